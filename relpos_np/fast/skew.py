"""Rung 2, skew: pad, reshape, slice; no index per pair.

The trick of Music Transformer (Huang et al. 2018), in the form for both directions. Let column c
hold the number for distance c - (L-1), so row i must move i places to the right until each
number stands over its key. Add one column and read the same memory in lines of the old width: ::

    row 0:  a b c d e .          a b c d e      after the first query_len - 1
    row 1:  f g h i j .   read   . f g h i      columns stands  c d e
    row 2:  k l m n o .   as     j . k l m                      g h i
                                                                k l m

Each line begins one place later than the line above: all rows have moved, and nothing was computed.
The price is the width: 2 L - 1 numbers per query, where the pairs need L.
"""

from functools import partial

import numpy as np

from relpos_np import validate
from relpos_np.fast.by_row import by_row_backward, by_row_forward
from relpos_np.fast.runs import sum_runs
from relpos_np.fast.window import rows_of_distances, table_rows


def skew_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`attention_forward` with the products per distance moved to the pairs by a reshape.

    Takes the arguments of `attention_forward`, any mask.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache
        For `skew_backward`.

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does.

    Examples
    --------
    >>> zeros, value = np.zeros((1, 1, 2, 1)), np.array([[[[1.0], [3.0]]]])
    >>> skew_forward(zeros, zeros, value, None, np.array([[-10.0], [0.0], [10.0]]))[0]
    array([[[[ 7.],
             [-3.]]]])
    """
    validate.attention_inputs(query, key, value, relative_key_table, relative_value_table, mask)
    num_rows = table_rows(relative_key_table, relative_value_table)
    rows = rows_of_distances(query.shape[2], key.shape[2], query_start, num_rows)
    return by_row_forward(
        query, key, value, relative_key_table, relative_value_table, mask,
        spread=partial(spread_by_skew, rows=rows),
        collect=partial(collect_by_skew, rows=rows, num_rows=num_rows),
    )


skew_backward = by_row_backward


def spread_by_skew(by_row, rows):
    """Repeat the end rows for the distances beyond k, then skew: (b,h,i,r) to (b,h,i,j)."""
    return skew(by_row[..., rows])


def collect_by_skew(by_pair, rows, num_rows):
    """The transpose: unskew, then sum the distances that share a row."""
    return sum_runs(unskew(by_pair), rows, num_rows)


def skew(by_distance):
    """``out[i, j] = by_distance[i, j - i + query_len - 1]``, without an index.

    Parameters
    ----------
    by_distance : ndarray, (..., query_len, query_len + key_len - 1)
        From the farthest key on the left to the farthest on the right.

    Returns
    -------
    ndarray, (..., query_len, key_len)

    Examples
    --------
    >>> skew(np.array([[-2, -1, 0, 1, 2]] * 3))
    array([[ 0,  1,  2],
           [-1,  0,  1],
           [-2, -1,  0]])
    """
    *outer, query_len, width = by_distance.shape
    padded = np.concatenate([by_distance, np.zeros_like(by_distance[..., :1])], axis=-1)
    lines = padded.reshape(*outer, query_len * padded.shape[-1])[..., : query_len * width]
    return lines.reshape(*outer, query_len, width)[..., max(query_len, 1) - 1 :]


def unskew(by_pair):
    """The transpose of `skew`: ``out[i, j - i + query_len - 1] = by_pair[i, j]``, else 0.

    >>> unskew(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    array([[0, 0, 1, 2, 3],
           [0, 4, 5, 6, 0],
           [7, 8, 9, 0, 0]])
    """
    *outer, query_len, key_len = by_pair.shape
    width = max(query_len, 1) + key_len - 1
    lines = np.zeros((*outer, query_len * (width + 1)), dtype=by_pair.dtype)
    framed = lines[..., : query_len * width].reshape(*outer, query_len, width)
    framed[..., width - key_len :] = by_pair
    return lines.reshape(*outer, query_len, width + 1)[..., :width]
