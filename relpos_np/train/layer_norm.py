"""Layer normalisation (Ba, Kiros and Hinton 2016), and its backward."""

from typing import NamedTuple

import numpy as np

EPSILON = 1e-5


class LayerNormCache(NamedTuple):
    """The intermediates in the order in which they are made."""

    scale: np.ndarray  # (model_dim,)
    centred: np.ndarray  # (..., model_dim)   x - mean
    deviation: np.ndarray  # (..., 1)         sqrt(variance + epsilon)
    normalised: np.ndarray  # (..., model_dim)
    output: np.ndarray  # (..., model_dim)


class LayerNormGrads(NamedTuple):
    """Gradients by the names of the arguments."""

    x: np.ndarray
    scale: np.ndarray
    shift: np.ndarray


def layer_norm_forward(x, scale, shift):
    """Every vector to mean 0 and variance 1, then scaled and shifted feature by feature.

    Parameters
    ----------
    x : ndarray, (..., model_dim)
    scale, shift : ndarray, (model_dim,)

    Returns
    -------
    output : ndarray, (..., model_dim)
    cache : LayerNormCache

    Examples
    --------
    >>> layer_norm_forward(np.array([1.0, 3.0]), np.array([5.0, 5.0]), np.ones(2))[0].round(3)
    array([-4.,  6.])
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    deviation = np.sqrt(variance + EPSILON)
    normalised = centred / deviation
    output = normalised * scale + shift
    return output, LayerNormCache(
        scale=scale, centred=centred, deviation=deviation, normalised=normalised, output=output
    )


def layer_norm_backward(grad_output, cache):
    """Gradients of `layer_norm_forward`.

    Parameters
    ----------
    grad_output : ndarray, (..., model_dim)
    cache : LayerNormCache

    Returns
    -------
    LayerNormGrads

    Notes
    -----
    The gradient of x has no part along the constant vector (the mean takes it out) and almost
    none along x itself (the variance does).

    Examples
    --------
    >>> _, cache = layer_norm_forward(np.array([1.0, 2.0, 6.0]), np.ones(3), np.zeros(3))
    >>> layer_norm_backward(np.array([1.0, 0.0, 0.0]), cache).x.round(3)
    array([ 0.176, -0.22 ,  0.044])
    """
    leading = tuple(range(grad_output.ndim - 1))
    # output = normalised * scale + shift
    grad_shift = grad_output.sum(axis=leading)
    grad_scale = (grad_output * cache.normalised).sum(axis=leading)
    grad_normalised = grad_output * cache.scale
    # normalised = centred / deviation
    grad_deviation = -(grad_normalised * cache.normalised).sum(-1, keepdims=True) / cache.deviation
    # deviation = sqrt(mean(centred^2) + epsilon)
    model_dim = cache.centred.shape[-1]
    grad_centred = grad_normalised / cache.deviation
    grad_centred += grad_deviation * cache.centred / (model_dim * cache.deviation)
    # centred = x - mean(x)
    grad_x = grad_centred - grad_centred.mean(axis=-1, keepdims=True)
    return LayerNormGrads(x=grad_x, scale=grad_scale, shift=grad_shift)
