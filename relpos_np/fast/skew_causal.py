"""Rung 2a, the skew under a causal mask: half the width, and garbage above the diagonal.

Music Transformer's own form. A query that sees only the past needs the distances -(L-1) .. 0: L
numbers per query, not 2L - 1. A column in front, and lines of L instead of L + 1: ::

    row 0:  . a b c              . a b          first line dropped:
    row 1:  . d e f    read as   c . d          c . d
    row 2:  . g h i              e f .          e f .
                                 g h i          g h i

Row i belongs to distances -(L-1) .. 0 and ends with its own distance 0 on the diagonal: c, f, i.
**What stands above the diagonal belongs to nobody**: the padding, and numbers of the next row (d).
The mask must hide every such pair, so this rung refuses any mask that does not.
"""

from functools import partial

import numpy as np

from relpos_np import validate
from relpos_np.fast.by_row import by_row_backward, by_row_forward
from relpos_np.fast.runs import sum_runs
from relpos_np.fast.window import rows_of_distances, table_rows
from relpos_np.positions import first_query_position


def skew_causal_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`attention_forward` under a causal mask, by the narrow skew.

    Takes the arguments of `attention_forward`; as many queries as keys, from position 0, and a
    mask that hides every key to the right of its query (it may hide more).

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache
        For `skew_causal_backward`.

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does, and if a pair above the diagonal may attend.

    Examples
    --------
    >>> zeros, value = np.zeros((1, 1, 2, 1)), np.array([[[[1.0], [3.0]]]])
    >>> table = np.array([[-10.0], [0.0], [10.0]])
    >>> skew_causal_forward(zeros, zeros, value, None, table, mask=np.tri(2, dtype=bool))[0]
    array([[[[ 1.],
             [-3.]]]])
    """
    validate.attention_inputs(query, key, value, relative_key_table, relative_value_table, mask)
    query_len, key_len = query.shape[2], key.shape[2]
    refuse_the_right(query_len, key_len, mask, query_start)
    num_rows = table_rows(relative_key_table, relative_value_table)
    rows = rows_of_distances(query_len, key_len, 0, num_rows)[:key_len]
    return by_row_forward(
        query, key, value, relative_key_table, relative_value_table, mask,
        spread=partial(spread_by_causal_skew, rows=rows),
        collect=partial(collect_by_causal_skew, rows=rows, num_rows=num_rows),
    )


skew_causal_backward = by_row_backward


def refuse_the_right(query_len, key_len, mask, query_start):
    """Raise unless row i is position i and no query sees a key to its right."""
    first = first_query_position(query_len, key_len, query_start)
    if query_len != key_len or first != 0:
        raise ValueError(
            f"the causal skew needs query i at position i, got {query_len} queries, {key_len} keys "
            f"and query_start {first}: use skew_forward"
        )
    right = ~np.tri(query_len, dtype=bool)
    if query_len > 1 and (mask is None or np.any(mask & right)):
        raise ValueError(
            "the causal skew has garbage above the diagonal, and this mask lets a query see it: "
            "hide the keys to the right, mask & np.tri(length, dtype=bool), or use skew_forward"
        )


def spread_by_causal_skew(by_row, rows):
    """Repeat row 0 for the far past, then skew: (b, h, i, r) to (b, h, i, j)."""
    return causal_skew(by_row[..., rows])


def collect_by_causal_skew(by_pair, rows, num_rows):
    """The transpose, for numbers that are 0 above the diagonal."""
    return sum_runs(causal_unskew(by_pair), rows, num_rows)


def causal_skew(by_distance):
    """``out[i, j] = by_distance[i, j - i + L - 1]`` for j <= i; garbage above the diagonal.

    Parameters
    ----------
    by_distance : ndarray, (..., L, L)
        Column c is for distance c - (L-1).

    Returns
    -------
    ndarray, (..., L, L)

    Examples
    --------
    The 0s are the padding, the 4 is a number of the next query:

    >>> causal_skew(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    array([[3, 0, 4],
           [5, 6, 0],
           [7, 8, 9]])
    """
    *outer, length, _ = by_distance.shape
    padded = np.concatenate([np.zeros_like(by_distance[..., :1]), by_distance], axis=-1)
    lines = padded.reshape(*outer, length * (length + 1))
    return lines[..., length:].reshape(*outer, length, length)


def causal_unskew(by_pair):
    """Back to distances, garbage too: ``causal_unskew(causal_skew(x))`` is x but for row 0.

    >>> causal_unskew(np.array([[3, 0, 0], [5, 6, 0], [7, 8, 9]]))
    array([[0, 0, 3],
           [0, 5, 6],
           [7, 8, 9]])
    """
    *outer, length, _ = by_pair.shape
    lines = by_pair.reshape(*outer, length * length)
    padded = np.concatenate([np.zeros_like(lines[..., :length]), lines], axis=-1)
    return padded.reshape(*outer, length, length + 1)[..., 1:]
