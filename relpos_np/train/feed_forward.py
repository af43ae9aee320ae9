"""The position-wise feed-forward layer (Vaswani et al. 2017, equation 2), and its backward."""

from typing import NamedTuple

import numpy as np


class FeedForwardCache(NamedTuple):
    """The intermediates in the order in which they are made."""

    x: np.ndarray  # (b, length, model_dim)
    inner_weight: np.ndarray  # (model_dim, inner_dim)
    outer_weight: np.ndarray  # (inner_dim, model_dim)
    active: np.ndarray  # (b, length, inner_dim) bool
    inner: np.ndarray  # (b, length, inner_dim)   after the ReLU
    output: np.ndarray  # (b, length, model_dim)


class FeedForwardGrads(NamedTuple):
    """Gradients by the names of the arguments."""

    x: np.ndarray
    inner_weight: np.ndarray
    inner_bias: np.ndarray
    outer_weight: np.ndarray
    outer_bias: np.ndarray


def feed_forward_forward(x, inner_weight, inner_bias, outer_weight, outer_bias):
    """``relu(x W_1 + b_1) W_2 + b_2`` at every position alike.

    Parameters
    ----------
    x : ndarray, (batch, length, model_dim)
    inner_weight, inner_bias : ndarray, (model_dim, inner_dim) and (inner_dim,)
    outer_weight, outer_bias : ndarray, (inner_dim, model_dim) and (model_dim,)

    Returns
    -------
    output : ndarray, (batch, length, model_dim)
    cache : FeedForwardCache

    Examples
    --------
    >>> one, nothing = np.ones((1, 1)), np.zeros(1)
    >>> feed_forward_forward(np.array([[[-2.0], [3.0]]]), one, nothing, one, nothing)[0]
    array([[[0.],
            [3.]]])
    """
    raw = x @ inner_weight + inner_bias
    active = raw.real > 0  # the real part, so that a complex step passes through
    inner = np.where(active, raw, 0)
    output = inner @ outer_weight + outer_bias
    return output, FeedForwardCache(
        x=x, inner_weight=inner_weight, outer_weight=outer_weight, active=active, inner=inner,
        output=output,
    )


def feed_forward_backward(grad_output, cache):
    """Gradients of `feed_forward_forward`: (batch, length, model_dim) to `FeedForwardGrads`.

    Examples
    --------
    An input that the ReLU cut off learns nothing:

    >>> one, nothing = np.ones((1, 1)), np.zeros(1)
    >>> _, cache = feed_forward_forward(np.array([[[-2.0], [3.0]]]), one, nothing, one, nothing)
    >>> feed_forward_backward(np.array([[[5.0], [7.0]]]), cache).x
    array([[[0.],
            [7.]]])
    """
    # output = inner @ outer_weight + outer_bias
    grad_inner = grad_output @ cache.outer_weight.T
    grad_outer_weight = flat(cache.inner).T @ flat(grad_output)
    # inner = relu(raw)
    grad_raw = np.where(cache.active, grad_inner, 0)
    # raw = x @ inner_weight + inner_bias
    return FeedForwardGrads(
        x=grad_raw @ cache.inner_weight.T,
        inner_weight=flat(cache.x).T @ flat(grad_raw),
        inner_bias=flat(grad_raw).sum(axis=0),
        outer_weight=grad_outer_weight,
        outer_bias=flat(grad_output).sum(axis=0),
    )


def flat(array):
    """(batch, length, width) to (batch * length, width): all positions in one matrix."""
    return array.reshape(-1, array.shape[-1])
