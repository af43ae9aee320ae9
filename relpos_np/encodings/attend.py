"""What all encodings share once the logits stand: mask, softmax, weighted sum of the values."""

from typing import NamedTuple

import numpy as np

from relpos_np.softmax import mask_scores, softmax, softmax_backward


class AttendCache(NamedTuple):
    """Every intermediate from the logits to the output."""

    value: np.ndarray  # (b, h, j, value head_dim)
    logits: np.ndarray  # (b, h, i, j)   everything that is added before the softmax
    scores: np.ndarray  # (b, h, i, j)   -inf where masked
    weights: np.ndarray  # (b, h, i, j)
    output: np.ndarray  # (b, h, i, value head_dim)


def attend_forward(logits, value, mask=None):
    """Softmax of the logits over the keys, and the values summed with these weights.

    Parameters
    ----------
    logits : ndarray, (batch, num_heads, query_len, key_len)
    value : ndarray, (batch, num_heads, key_len, value head_dim)
    mask : ndarray of bool, optional, broadcastable to the logits
        True = may attend.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : AttendCache

    Examples
    --------
    >>> output, _ = attend_forward(np.zeros((1, 1, 1, 2)), np.array([[[[1.0], [3.0]]]]))
    >>> output.item()
    2.0
    """
    scores = mask_scores(logits, mask)
    weights = softmax(scores)
    output = np.einsum("bhij,bhjd->bhid", weights, value)
    return output, AttendCache(value, logits, scores, weights, output)


def attend_backward(grad_output, cache, grad_weights_elsewhere=0):
    """Gradients of the logits and of the value, in this order.

    `grad_weights_elsewhere` is what reaches the weights by another way than the values.
    """
    # output = einsum("bhij,bhjd->bhid", weights, value)
    grad_weights = np.einsum("bhid,bhjd->bhij", grad_output, cache.value) + grad_weights_elsewhere
    grad_value = np.einsum("bhij,bhid->bhjd", cache.weights, grad_output)
    # weights = softmax(scores); a masked pair has weight 0, so its logit gets gradient 0
    return softmax_backward(grad_weights, cache.weights), grad_value


def grad_dot(grad_logits, query, key):
    """Gradients of query and key from that of ``einsum("bhid,bhjd->bhij", query, key)``."""
    grad_query = np.einsum("bhij,bhjd->bhid", grad_logits, key)
    grad_key = np.einsum("bhij,bhid->bhjd", grad_logits, query)
    return grad_query, grad_key


def real_dtype(array):
    """The precision of an array; of a complex one, which the complex step makes, its real one."""
    return np.finfo(array.dtype).dtype
