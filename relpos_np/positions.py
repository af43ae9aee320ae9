"""Steps 1 to 3: how far is each key from each query, and which table row says so.

Everything here is an integer. The direction is fixed once and for all: a relative
position is *key minus query*, ``j - i``, so a key to the right is positive.
"""

import numpy as np

from relpos_np.validate import first_query_position, whole_number, whole_numbers


def relative_position_matrix(query_len, key_len=None, query_start=None):
    """Step 1: the relative position ``j - i`` of every key j seen from every query i.

    Parameters
    ----------
    query_len, key_len : int
        Number of queries and of keys; `key_len` defaults to `query_len`.
    query_start : int, optional
        Position of the first query among the keys. Must be given when the lengths
        differ; 0 when they are equal and nothing is said.

    Returns
    -------
    ndarray of int, (query_len, key_len)

    Raises
    ------
    ValueError
        If a length is negative, or the lengths differ and `query_start` is missing.
    TypeError
        If a length or `query_start` is not an integer.

    Notes
    -----
    Shaw et al. 2018, section 3.2: the edge from i to j is labelled by ``j - i``.

    Examples
    --------
    >>> relative_position_matrix(3)
    array([[ 0,  1,  2],
           [-1,  0,  1],
           [-2, -1,  0]])

    One new query after four cached ones sees five keys, the last of them itself:

    >>> relative_position_matrix(1, 5, query_start=4)
    array([[-4, -3, -2, -1,  0]])
    """
    query_len = whole_number("query_len", query_len, minimum=0)
    key_len = query_len if key_len is None else whole_number("key_len", key_len, minimum=0)
    query_start = first_query_position(query_len, key_len, query_start)
    query_position = query_start + np.arange(query_len)
    key_position = np.arange(key_len)
    return key_position[np.newaxis, :] - query_position[:, np.newaxis]


def clip_relative_position(relative_position, max_relative_position):
    """Step 2: beyond k, further away is no longer told apart: ``clip(j - i, -k, k)``.

    Parameters
    ----------
    relative_position : array_like of int
        Any shape.
    max_relative_position : int
        The paper's k, at least 0.

    Returns
    -------
    ndarray of int, the shape of `relative_position`

    Raises
    ------
    ValueError, TypeError
        If `max_relative_position` is negative, or anything is not an integer.

    Notes
    -----
    Shaw et al. 2018, section 3.2: ``clip(x, k) = max(-k, min(k, x))``.

    Examples
    --------
    >>> clip_relative_position([-3, -1, 0, 2, 5], 2)
    array([-2, -1,  0,  2,  2])
    """
    k = whole_number("max_relative_position", max_relative_position, minimum=0)
    return np.clip(whole_numbers("relative_position", relative_position), -k, k)


def table_index(clipped_position, max_relative_position):
    """Step 3: shift the clipped positions ``-k .. k`` to the table rows ``0 .. 2k``.

    Parameters
    ----------
    clipped_position : array_like of int
        Any shape, every element within ``-k .. k``.
    max_relative_position : int
        The paper's k, at least 0.

    Returns
    -------
    ndarray of int, the shape of `clipped_position`

    Raises
    ------
    ValueError
        If an element lies outside ``-k .. k``. NumPy would not complain: row -1 reads the
        last row, so a forgotten clip gives plausible numbers.
    TypeError
        If anything is not an integer.

    Notes
    -----
    Shaw et al. 2018, section 3.2: the rows are ``w_{-k}, .., w_0, .., w_k``.

    Examples
    --------
    >>> table_index([-2, -1, 0, 1, 2], 2)
    array([0, 1, 2, 3, 4])
    """
    k = whole_number("max_relative_position", max_relative_position, minimum=0)
    clipped_position = whole_numbers("clipped_position", clipped_position)
    if clipped_position.size and (clipped_position.min() < -k or clipped_position.max() > k):
        raise ValueError(
            f"positions {clipped_position.min()} .. {clipped_position.max()} do not fit a table "
            f"for -{k} .. {k}: clip them first, clip_relative_position(relative_position, {k})"
        )
    return clipped_position + k
