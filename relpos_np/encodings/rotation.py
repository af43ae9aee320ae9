"""Turning pairs of coordinates by an angle that grows with the position: what RoPE is made of."""

import numpy as np

from relpos_np.encodings.attend import real_dtype


def rope_angle(positions, head_dim, base=10000.0):
    """Angle by which each pair of coordinates turns at each position, in float64.

    In half precision the angle of position 1857 would be off by whole radians: compute it like
    this and round its cosine and sine.

    Parameters
    ----------
    positions : array_like of int, (length,)
    head_dim : int
        Even.
    base : float

    Returns
    -------
    ndarray of float64, (length, head_dim / 2)

    Raises
    ------
    ValueError
        If `head_dim` is odd.

    Notes
    -----
    Su et al. 2021, section 3.2.2: ``m theta_t`` with ``theta_t = base^(-2t / head_dim)``.

    Examples
    --------
    >>> rope_angle([0, 1, 2], 4)
    array([[0.  , 0.  ],
           [1.  , 0.01],
           [2.  , 0.02]])
    """
    if head_dim % 2:
        raise ValueError(f"head_dim must be even to be rotated in pairs, got {head_dim}")
    frequency = base ** (-np.arange(0, head_dim, 2) / head_dim)
    return np.asarray(positions)[:, np.newaxis] * frequency


def rotate(x, angle, layout="half"):
    """Turn each pair of coordinates of x by its angle.

    Parameters
    ----------
    x : ndarray, (..., length, head_dim)
    angle : ndarray, (length, head_dim / 2)
    layout : {"half", "interleaved"}
        Which coordinates are pairs: t and t + head_dim/2 (LLaMA in transformers, GPT-NeoX), or
        2t and 2t+1 (the paper, GPT-J, Meta's LLaMA). See `interleaved_to_half`.

    Returns
    -------
    ndarray, the shape and dtype of `x`

    Raises
    ------
    ValueError
        If the layout is unknown.

    Examples
    --------
    >>> quarter_turn = np.array([[np.pi / 2, 0.0]])
    >>> rotate(np.array([[1.0, 2.0, 3.0, 4.0]]), quarter_turn, layout="half").round(9)
    array([[-3.,  2.,  1.,  4.]])
    >>> rotate(np.array([[1.0, 2.0, 3.0, 4.0]]), quarter_turn, layout="interleaved").round(9)
    array([[-2.,  1.,  3.,  4.]])
    """
    cosine, sine = (f(angle).astype(real_dtype(x)) for f in (np.cos, np.sin))
    if layout == "half":
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate(turn(first, second, cosine, sine), axis=-1)
    if layout == "interleaved":
        turned = turn(x[..., 0::2], x[..., 1::2], cosine, sine)
        return np.stack(turned, axis=-1).reshape(x.shape)
    raise ValueError(f"layout must be 'half' or 'interleaved', got {layout!r}")


def turn(first, second, cosine, sine):
    """Coordinates of points in the plane after a rotation."""
    return first * cosine - second * sine, first * sine + second * cosine


def interleaved_to_half(head_dim):
    """The order of the coordinates that turns one layout into the other.

    ``rotate(x, angle, "interleaved")[..., p] == rotate(x[..., p], angle, "half")``: permute the
    columns of W^Q and W^K, head by head, and a model of one layout runs in the other. The scores
    do not change, because query and key are permuted alike. ``np.argsort(p)`` goes back.

    Examples
    --------
    >>> interleaved_to_half(6)
    array([0, 2, 4, 1, 3, 5])
    """
    return np.concatenate([np.arange(0, head_dim, 2), np.arange(1, head_dim, 2)])
