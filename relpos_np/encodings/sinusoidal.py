"""Sinusoidal absolute encoding: a fixed vector per position, added to the input."""

import numpy as np

from relpos_np.encodings.attend import real_dtype
from relpos_np.validate import same_precision, whole_number


def sinusoidal_encoding(positions, model_dim, *, layout="interleaved", dtype=np.float64):
    """The vector of each position: sines and cosines of ever longer waves.

    Parameters
    ----------
    positions : array_like of int, (length,)
        Negative ones are allowed; Transformer-XL encodes distances with the same waves.
    model_dim : int
        Even.
    layout : {"interleaved", "halves"}
        ``sin cos sin cos ..`` as the paper writes it, or all sines then all cosines, as
        tensor2tensor and Transformer-XL do. A permutation of the columns tells them apart.
    dtype : dtype
        Of the result; the angles are always computed in float64.

    Returns
    -------
    ndarray, (length, model_dim)

    Raises
    ------
    ValueError
        If `model_dim` is odd or the layout unknown.

    Notes
    -----
    Vaswani et al. 2017, section 3.5: ``PE(pos, 2t) = sin(pos / 10000^(2t / model_dim))`` and the
    cosine of the same at 2t+1.

    Examples
    --------
    >>> sinusoidal_encoding([0, 1], 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    """
    model_dim = whole_number("model_dim", model_dim, minimum=2)
    if model_dim % 2:
        raise ValueError(f"model_dim must be even, a sine and a cosine each, got {model_dim}")
    if layout not in ("interleaved", "halves"):
        raise ValueError(f"layout must be 'interleaved' or 'halves', got {layout!r}")
    frequency = 10000.0 ** (-np.arange(0, model_dim, 2) / model_dim)
    angle = np.asarray(positions)[:, np.newaxis] * frequency
    if layout == "halves":
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1).astype(dtype)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(-1, model_dim).astype(dtype)


def sinusoidal_forward(x, *, query_start=0):
    """The input with its positions added: ``x_i + PE(query_start + i)``.

    Parameters
    ----------
    x : ndarray, (batch, length, model_dim)
    query_start : int
        Position of the first row: what a cache already holds.

    Returns
    -------
    ndarray, the shape and dtype of `x`

    Raises
    ------
    ValueError, TypeError
        If `x` is not (batch, length, even model_dim) or `query_start` not an integer.

    Examples
    --------
    >>> sinusoidal_forward(np.ones((1, 1, 2)))
    array([[[1., 2.]]])
    """
    same_precision({"x": x})
    if x.ndim != 3:
        raise ValueError(f"x has shape {x.shape}; it must be (batch, length, model_dim)")
    positions = whole_number("query_start", query_start) + np.arange(x.shape[1])
    return x + sinusoidal_encoding(positions, x.shape[2], dtype=real_dtype(x))


def sinusoidal_backward(grad_encoded):
    """Gradient of x: what is added is constant, so the gradient passes unchanged."""
    return grad_encoded
