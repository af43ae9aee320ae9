"""From logits per distance to logits per key, without an index: pad, reshape, slice.

A query's products with all distance vectors stand in a row, farthest first. Row i must move by
its own i to put each under its key. Reading the same numbers with rows one longer or shorter
does that for all rows at once: Transformer-XL's shift, Music Transformer's skew.
"""

import numpy as np


def relative_shift(by_distance):
    """One direction: ``out[i, j] = by_distance[i, query_len-1-i+j]``, for keys up to the query.

    Parameters
    ----------
    by_distance : ndarray, (..., query_len, key_len)
        Column c is for the distance key_len-1-c, so the last is for distance 0. The queries are
        the last query_len of the key positions.

    Returns
    -------
    ndarray, (..., query_len, key_len)
        Right for ``j <= key_len - query_len + i``. Beyond that stand zeros and **numbers of the
        next query's row**, which only a causal mask hides.

    Notes
    -----
    Dai et al. 2019, appendix B; Huang et al. 2019, section 3.4.1.

    Examples
    --------
    The 0 and the 4 above the diagonal belong to nobody:

    >>> relative_shift(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    array([[3, 0, 4],
           [5, 6, 0],
           [7, 8, 9]])
    """
    *outer, query_len, key_len = by_distance.shape
    zeros = np.zeros((*outer, query_len, 1), dtype=by_distance.dtype)
    padded = np.concatenate([zeros, by_distance], axis=-1)
    flat = padded.reshape(*outer, query_len * (key_len + 1))
    return flat[..., query_len:].reshape(*outer, query_len, key_len)


def relative_shift_backward(grad):
    """The transpose of `relative_shift`, garbage included: (..., query_len, key_len) likewise.

    For weights that are zero above the diagonal it also answers another question: how much does
    query i attend to each *distance*? Multiplied by a value table, that is Shaw's value term.

    Examples
    --------
    >>> relative_shift_backward(np.array([[3, 0, 0], [5, 6, 0], [7, 8, 9]]))
    array([[0, 0, 3],
           [0, 5, 6],
           [7, 8, 9]])
    """
    *outer, query_len, key_len = grad.shape
    flat = grad.reshape(*outer, query_len * key_len)
    zeros = np.zeros((*outer, query_len), dtype=grad.dtype)
    padded = np.concatenate([zeros, flat], axis=-1).reshape(*outer, query_len, key_len + 1)
    return padded[..., 1:]


def relative_shift_two_directional(by_distance):
    """Both directions: ``out[i, j] = by_distance[i, query_len-i+j]``, right for every pair.

    Parameters
    ----------
    by_distance : ndarray, (..., query_len, key_len + query_len)
        Column c is for the distance key_len-c: key_len down to -(query_len-1). The first is
        never used; it only makes the reshape come out.

    Returns
    -------
    ndarray, (..., query_len, key_len)

    Notes
    -----
    The form of XLNet (Yang et al. 2019).

    Examples
    --------
    >>> relative_shift_two_directional(np.array([[9, 1, 0, -1], [9, 1, 0, -1]]))
    array([[ 0, -1],
           [ 1,  0]])
    """
    *outer, query_len, columns = by_distance.shape
    flat = by_distance.reshape(*outer, query_len * columns)
    shifted = flat[..., query_len:].reshape(*outer, query_len, max(columns - 1, 0))
    return shifted[..., : columns - query_len]


def relative_shift_two_directional_backward(grad):
    """The transpose: (..., query_len, key_len) to (..., query_len, key_len + query_len).

    Examples
    --------
    >>> relative_shift_two_directional_backward(np.array([[1, 2], [3, 4]]))
    array([[0, 0, 1, 2],
           [0, 3, 4, 0]])
    """
    *outer, query_len, key_len = grad.shape
    columns = key_len + query_len
    tail = np.zeros((*outer, query_len, max(query_len - 1, 0)), dtype=grad.dtype)
    flat = np.concatenate([grad, tail], axis=-1)
    flat = flat.reshape(*outer, query_len * max(columns - 1, 0))
    zeros = np.zeros((*outer, query_len), dtype=grad.dtype)
    return np.concatenate([zeros, flat], axis=-1).reshape(*outer, query_len, columns)
