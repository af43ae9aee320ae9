"""Rung 1, gather: take the products by index, sum the weights by runs.

Extra memory: the (query_len, key_len) index, shared by all heads, instead of two arrays with a
vector of head_dim numbers per pair.
"""

from functools import partial

import numpy as np

from relpos_np import validate
from relpos_np.fast.by_row import by_row_backward, by_row_forward
from relpos_np.fast.runs import sum_runs
from relpos_np.fast.window import table_rows
from relpos_np.positions import clip_relative_position, relative_position_matrix, table_index


def gather_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`attention_forward` with one product per query and table row, taken by index.

    Takes the arguments of `attention_forward`, any mask.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache
        For `gather_backward`.

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does.

    Examples
    --------
    >>> zeros, value = np.zeros((1, 1, 2, 1)), np.array([[[[1.0], [3.0]]]])
    >>> gather_forward(zeros, zeros, value, None, np.array([[-10.0], [0.0], [10.0]]))[0]
    array([[[[ 7.],
             [-3.]]]])
    """
    validate.attention_inputs(query, key, value, relative_key_table, relative_value_table, mask)
    num_rows = table_rows(relative_key_table, relative_value_table)
    k = num_rows // 2
    relative_position = relative_position_matrix(query.shape[2], key.shape[2], query_start)
    index = table_index(clip_relative_position(relative_position, k), k)
    # The numbers (i, r) of one head in one line: pair (i, j) finds its own at i * num_rows + r.
    flat_index = index + num_rows * np.arange(query.shape[2])[:, np.newaxis]
    return by_row_forward(
        query, key, value, relative_key_table, relative_value_table, mask,
        spread=partial(take_by_index, flat_index=flat_index),
        collect=partial(sum_by_index, flat_index=flat_index, num_rows=num_rows),
    )


gather_backward = by_row_backward


def take_by_index(by_row, flat_index):
    """``out[i, j] = by_row[i, index_ij]``: (b, h, i, r) to (b, h, i, j)."""
    batch, num_heads, query_len, num_rows = by_row.shape
    return by_row.reshape(batch, num_heads, query_len * num_rows).take(flat_index, axis=-1)


def sum_by_index(by_pair, flat_index, num_rows):
    """``out[i, r] = sum of by_pair[i, j] with index_ij = r``: (b, h, i, j) to (b, h, i, r).

    Read line by line, `flat_index` never falls: the pairs of one number are one run.

    >>> sum_by_index(np.array([[[[1, 2, 3]]]]), flat_index=np.array([[0, 1, 1]]), num_rows=3)
    array([[[[1, 5, 0]]]])
    """
    batch, num_heads, query_len, key_len = by_pair.shape
    numbers = by_pair.reshape(batch, num_heads, query_len * key_len)
    sums = sum_runs(numbers, flat_index.reshape(-1), query_len * num_rows)
    return sums.reshape(batch, num_heads, query_len, num_rows)
