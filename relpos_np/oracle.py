"""The double loop of naive.py in 60-digit decimal arithmetic: right to the last bit of a float64.

Gradients come from central differences of that loop with a step of 1e-20: no derivative formula
has to be trusted. Truncation and rounding leave an error of about 1e-38, absolute, for inputs up
to 1e6. So every gradient above 1e-20 is right to the last bit of a float64, and a
smaller one to 38 decimals.
"""

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.decimals import (
    CONTEXT,
    exact,
    one_head,
    pair_mask,
    refuse_what_60_digits_may_not_hold,
    select,
)
from relpos_np.naive import naive_attention

STEP = Decimal("1e-20")


class OracleStages(NamedTuple):
    """Correctly rounded float64 arrays, each (batch, num_heads, query_len, ...)."""

    scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


class OracleGrads(NamedTuple):
    """Correctly rounded float64 gradients; None for a table that was not given."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    relative_key_table: np.ndarray | None
    relative_value_table: np.ndarray | None


def oracle_attention(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """Scores, weights and output of equations (3) and (4), correctly rounded.

    Parameters
    ----------
    query, key, value, relative_key_table, relative_value_table, mask, query_start
        As in `attention_forward`, float64, and few of them: a pair takes about a microsecond
        per dimension.

    Returns
    -------
    OracleStages

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does; also for inputs that are not float64, or beyond 1e6,
        where 60 digits are no longer sure to hold every sum.

    Examples
    --------
    >>> oracle_attention(*np.ones((3, 1, 1, 1, 1)), None, np.full((1, 1), 0.25)).output
    array([[[[1.25]]]])
    """
    arrays = (query, key, value, relative_key_table, relative_value_table)
    validate.attention_inputs(*arrays, mask)
    refuse_what_60_digits_may_not_hold(*arrays)
    batch, num_heads, query_len, _ = query.shape
    rows = {"scores": key.shape[2], "weights": key.shape[2], "output": value.shape[3]}
    rounded = {
        name: np.zeros((batch, num_heads, query_len, width)) for name, width in rows.items()
    }
    with localcontext(CONTEXT):
        for b, h in np.ndindex(batch, num_heads):
            head = one_head(arrays, b, h)
            stages = naive_attention(*head, pair_mask(mask, query, key, b, h), query_start)
            for name, array in rounded.items():
                matrix = np.array(getattr(stages, name), dtype=float)
                array[b, h] = matrix.reshape(array[b, h].shape)
    return OracleStages(**rounded)


def oracle_gradients(
    grad_output, query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """Gradients of ``sum(grad_output * output)`` by 60-digit central differences of the loop.

    Takes `grad_output`, (batch, num_heads, query_len, value head_dim), then the arguments of
    `oracle_attention`, and returns `OracleGrads`.

    Examples
    --------
    >>> one = np.ones((1, 1, 1, 1))
    >>> oracle_gradients(3 * one, one, one, one, None, np.ones((1, 1))).relative_value_table
    array([[3.]])
    """
    arrays = (query, key, value, relative_key_table, relative_value_table)
    validate.attention_inputs(*arrays, mask)
    output = np.empty((*query.shape[:3], value.shape[3]))
    validate.gradient_like("grad_output", grad_output, "output", output)
    refuse_what_60_digits_may_not_hold(*arrays, grad_output)
    # Sums over heads and batch stay in Decimal, so that each gradient is rounded only once.
    totals = [None if a is None else np.full(a.shape, Decimal(0), dtype=object) for a in arrays]
    with localcontext(CONTEXT):
        for b, h in np.ndindex(query.shape[:2]):
            head = one_head(arrays, b, h)
            upstream = exact(grad_output[b, h])
            head_mask = pair_mask(mask, query, key, b, h)

            def loss(head, upstream=upstream, head_mask=head_mask):
                output = naive_attention(*head, head_mask, query_start).output
                return sum(
                    g * z
                    for grad_row, row in zip(upstream, output, strict=True)
                    for g, z in zip(grad_row, row, strict=True)
                )

            for array, total in zip(head, totals, strict=True):
                if array is not None:
                    total_of_head = select(total, b, h)
                    for index in np.ndindex(total_of_head.shape):
                        total_of_head[index] += central_difference(loss, head, array, index)
    return OracleGrads(*(None if total is None else total.astype(float) for total in totals))


def central_difference(loss, head, array, index):
    """(L(x + h) - L(x - h)) / 2h for one element of one of the arrays of `head`."""
    row, column = index
    number = array[row][column]
    array[row][column] = number + STEP
    above = loss(head)
    array[row][column] = number - STEP
    below = loss(head)
    array[row][column] = number
    return (above - below) / (2 * STEP)
