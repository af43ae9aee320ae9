"""ALiBi's numbers: a slope per head, and what it is multiplied by."""

import numpy as np

from relpos_np.positions import relative_position_matrix
from relpos_np.validate import whole_number


def alibi_slopes(num_heads):
    """One slope per head, for any number of heads.

    Parameters
    ----------
    num_heads : int

    Returns
    -------
    ndarray, (num_heads,)

    Notes
    -----
    Press et al. 2022, section 3: ``2^(-8h/n)`` for h = 1 .. n, if n is a power of two. Its code
    goes on for other n: the slopes of the next lower power of two, then every other slope of
    the next higher one.

    Examples
    --------
    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    num_heads = whole_number("num_heads", num_heads, minimum=1)
    lower = 2 ** (num_heads.bit_length() - 1)
    steps = 8 * np.arange(1, lower + 1) / lower
    between = 8 * np.arange(1, 2 * lower + 1, 2) / (2 * lower)
    return 2.0 ** -np.concatenate([steps, between])[:num_heads]


def alibi_steps(query_len, key_len=None, query_start=None, form="distance"):
    """What each slope is multiplied by, in the forms found in the world.

    Parameters
    ----------
    query_len, key_len, query_start
        As in `relpos_np.positions.relative_position_matrix`.
    form : {"distance", "key", "last", "symmetric"}
        ``j - i`` as the paper writes it, ``j``, or ``j - (key_len - 1)``. The three differ by a
        number per query, which softmax ignores, so they give the same weights. They favour keys
        to the right: a causal mask must hide those, or take ``-|j - i|``, "symmetric".

    Returns
    -------
    ndarray of int, (query_len, key_len)

    Raises
    ------
    ValueError
        If the form is unknown.

    Examples
    --------
    >>> alibi_steps(1, 4, query_start=2)
    array([[-2, -1,  0,  1]])
    >>> alibi_steps(1, 4, query_start=2, form="last")
    array([[-3, -2, -1,  0]])
    """
    distance = relative_position_matrix(query_len, key_len, query_start)
    if form == "distance":
        return distance
    if form == "symmetric":
        return -np.abs(distance)
    if form in ("key", "last"):
        key_len = distance.shape[1]
        first = 0 if form == "key" else 1 - key_len
        return np.broadcast_to(first + np.arange(key_len), distance.shape)
    raise ValueError(f"form must be 'distance', 'key', 'last' or 'symmetric', got {form!r}")
