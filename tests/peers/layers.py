"""Layers around attention as PyTorch keeps them, forward and backward, to reach recorded outputs.

A weight is (out, in) and multiplies from the right, ``x @ weight.T + bias``.
"""

import numpy as np

from relpos_np import attention_backward, attention_forward
from relpos_np.heads import merge_heads, split_heads

NUM_HEADS = 2  # in every recording


def linear(x, parameters, name):
    """The projection `name` of x; a bias is added if it is among the parameters."""
    projected = x @ parameters[f"{name}.weight"].T
    return projected + parameters[f"{name}.bias"] if f"{name}.bias" in parameters else projected


def linear_backward(grad, x, parameters, name):
    """Gradient of x, and those of the weight and bias by their names with ``d_`` in front."""
    grads = {f"d_{name}.weight": np.einsum("blo,bli->oi", grad, x)}
    if f"{name}.bias" in parameters:
        grads[f"d_{name}.bias"] = grad.sum(axis=(0, 1))
    return grad @ parameters[f"{name}.weight"], grads


def layer_norm(x, weight, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * weight + bias


def project(x, parameters, name):
    return split_heads(linear(x, parameters, name), NUM_HEADS)


def self_attention(parameters, x, names, tables, mask, upstream=None, start=0, stop=None):
    """A layer with Shaw's attention inside: what it puts out and its gradients, by name.

    Parameters
    ----------
    parameters : dict of str to ndarray
        By the peer's own names, in torch's layout.
    x : ndarray, (batch, length, model_dim)
    names : tuple of str
        Of the projections to query, key, value and, if there is one, of the output.
    tables : tuple of ndarray or None
        The paper's a^K and a^V tables.
    mask : ndarray of bool or None
    upstream : ndarray, optional
        Gradient of the output; without it no gradients are made.
    start, stop : int
        Queries of a cached step; keys run up to the last of them.

    Returns
    -------
    dict
        ``out``, ``alpha``, and ``d_...`` as in the recordings; ``grads`` holds those of the
        tables in the paper's layout.
    """
    stop = x.shape[1] if stop is None else stop
    query, key, value = (project(x[:, :stop], parameters, name) for name in names[:3])
    attended, cache = attention_forward(
        query[:, :, start:], key, value, *tables, mask=mask, query_start=start
    )
    merged = merge_heads(attended)
    out = linear(merged, parameters, names[3]) if len(names) > 3 else merged
    results = {"out": out, "alpha": cache.weights}
    if upstream is None:
        return results
    grads, grad_merged = {}, upstream.astype(x.dtype)
    if len(names) > 3:
        grad_merged, grads = linear_backward(grad_merged, merged, parameters, names[3])
    attention = attention_backward(split_heads(grad_merged, NUM_HEADS), cache)
    grad_x = 0
    for name, grad in zip(names, attention[:3], strict=False):
        part, more = linear_backward(merge_heads(grad), x, parameters, name)
        grad_x = grad_x + part
        grads.update(more)
    return {**results, **grads, "d_x": grad_x, "grads": attention}
