"""ALiBi: a fixed penalty that grows with the distance, steeper in some heads than in others."""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.encodings.alibi_bias import alibi_slopes, alibi_steps
from relpos_np.encodings.attend import (
    AttendCache,
    attend_backward,
    attend_forward,
    grad_dot,
    real_dtype,
)


class AlibiCache(NamedTuple):
    """Every intermediate of the forward pass."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    slopes: np.ndarray  # (h,)
    steps: np.ndarray  # (i, j) int   what a slope is multiplied by
    content_logits: np.ndarray  # (b, h, i, j)
    bias: np.ndarray  # (h, i, j)
    attend: AttendCache


class AlibiGrads(NamedTuple):
    """Gradients by the names of the arguments; ALiBi itself keeps the slopes fixed."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    slopes: np.ndarray


def alibi_forward(
    query, key, value, slopes=None, *, form="distance", mask=None, query_start=None
):
    """Attention with linear biases: ``e_ij = q_i . k_j / sqrt(head_dim) + slope * (j - i)``.

    Parameters
    ----------
    query, key, value, mask, query_start
        As in `relpos_np.attention.attention_forward`.
    slopes : ndarray, (num_heads,), optional
        `alibi_slopes` by default.
    form : str
        As in `alibi_steps`.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : AlibiCache

    Raises
    ------
    ValueError, TypeError
        If shapes or precisions do not fit, or the form is unknown.

    Notes
    -----
    Press et al. 2022, section 3. The bias is added after the scale, not scaled with the content.
    """
    validate.attention_inputs(query, key, value, None, None, mask)
    slopes = alibi_slopes(query.shape[1]).astype(real_dtype(query)) if slopes is None else slopes
    validate.same_precision({"query": query, "slopes": slopes})
    if slopes.shape != (query.shape[1],):
        raise ValueError(f"slopes have shape {slopes.shape}, one per head is ({query.shape[1]},)")
    steps = alibi_steps(query.shape[2], key.shape[2], query_start, form)
    bias = slopes[:, np.newaxis, np.newaxis] * steps.astype(real_dtype(query))

    content_logits = np.einsum("bhid,bhjd->bhij", query, key)
    logits = content_logits / math.sqrt(query.shape[3]) + bias
    output, attend = attend_forward(logits, value, mask)
    return output, AlibiCache(query, key, slopes, steps, content_logits, bias, attend)


def alibi_backward(grad_output, cache):
    """Gradients of `alibi_forward`: (batch, num_heads, query_len, value head_dim) in."""
    validate.gradient_like("grad_output", grad_output, "output", cache.attend.output)
    grad_logits, grad_value = attend_backward(grad_output, cache.attend)
    # logits = content_logits / sqrt(head_dim) + slopes * steps
    grad_slopes = np.einsum("bhij,ij->h", grad_logits, cache.steps.astype(real_dtype(cache.query)))
    grad_content_logits = grad_logits / math.sqrt(cache.query.shape[3])
    # content_logits = einsum("bhid,bhjd->bhij", query, key)
    grad_query, grad_key = grad_dot(grad_content_logits, cache.query, cache.key)
    return AlibiGrads(query=grad_query, key=grad_key, value=grad_value, slopes=grad_slopes)
