"""The chain rule through the double loop of naive.py, pair by pair, nothing merged.

Plain Python and any number type, like naive.py, and it imports nothing but that.
"""

from typing import NamedTuple

from relpos_np.naive import (
    add,
    dot,
    first_position,
    naive_attention,
    pair_row,
    square_root,
    table_row,
    times,
)


class NaiveGrads(NamedTuple):
    """One gradient per input, as nested lists; None for a table that was not given."""

    query: list
    key: list
    value: list
    relative_key_table: list
    relative_value_table: list


def naive_attention_backward(
    grad_output, query, key, value, relative_key_table=None, relative_value_table=None,
    mask=None, query_start=None,
):
    """Gradients of ``sum(grad_output * output)``, pair by pair.

    Takes the arguments of `naive_attention` after `grad_output`, (query_len, value head_dim),
    and returns `NaiveGrads`. The chain rule through equations (3) and (4), nothing merged.

    Examples
    --------
    >>> naive_attention_backward([[1.0]], [[2.0]], [[3.0]], [[5.0]], None, [[7.0]]).value
    [[1.0]]
    """
    query_start = first_position(query, key, query_start)
    weights = naive_attention(
        query, key, value, relative_key_table, relative_value_table, mask, query_start
    ).weights
    grad_query, grad_key, grad_value = _zeros(query), _zeros(key), _zeros(value)
    grad_key_table, grad_value_table = _zeros(relative_key_table), _zeros(relative_value_table)

    for i in range(len(query)):
        grad_weights = []
        for j in range(len(key)):
            relative_position = j - (query_start + i)
            # z_i = sum_j alpha_ij (v_j + a^V_ij): three things met in that product
            relative_value = pair_row(relative_value_table, relative_position)
            grad_weights.append(dot(grad_output[i], add(value[j], relative_value)))
            share = times(weights[i][j], grad_output[i])
            grad_value[j] = add(grad_value[j], share)
            _add_to_row(grad_value_table, relative_position, share)

        # alpha_i = softmax(e_i)
        row_sum = sum(a * g for a, g in zip(weights[i], grad_weights, strict=True))
        for j in range(len(key)):
            relative_position = j - (query_start + i)
            grad_score = weights[i][j] * (grad_weights[j] - row_sum)
            grad_logit = grad_score / square_root(len(query[i]), query[i])
            # e_ij = q_i . (k_j + a^K_ij) / sqrt(head_dim)
            relative_key = pair_row(relative_key_table, relative_position)
            grad_query[i] = add(grad_query[i], times(grad_logit, add(key[j], relative_key)))
            grad_key[j] = add(grad_key[j], times(grad_logit, query[i]))
            _add_to_row(grad_key_table, relative_position, times(grad_logit, query[i]))

    return NaiveGrads(grad_query, grad_key, grad_value, grad_key_table, grad_value_table)


def _add_to_row(grad_table, relative_position, vector):
    if grad_table is not None:
        row = table_row(grad_table, relative_position)
        grad_table[row] = add(grad_table[row], vector)


def _zeros(rows):
    return None if rows is None else [[0] * len(row) for row in rows]
