"""Transformer-XL: logits from projected sinusoids of the distance, with two trained biases."""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.encodings.attend import AttendCache, attend_backward, attend_forward, real_dtype
from relpos_np.encodings.relative_shift import (
    relative_shift,
    relative_shift_backward,
    relative_shift_two_directional,
    relative_shift_two_directional_backward,
)
from relpos_np.encodings.shift_inputs import queries_are_last, transformer_xl_inputs
from relpos_np.encodings.sinusoidal import sinusoidal_encoding

SHIFTS = {  # by two_directional
    False: (relative_shift, relative_shift_backward),
    True: (relative_shift_two_directional, relative_shift_two_directional_backward),
}


class TransformerXLCache(NamedTuple):
    """Every intermediate of the forward pass."""

    key: np.ndarray  # (b, h, j, d)
    position_encoding: np.ndarray  # (rows, model_dim)          r
    position_key: np.ndarray  # (h, rows, d)                    W r
    content_query: np.ndarray  # (b, h, i, d)                   q_i + u
    position_query: np.ndarray  # (b, h, i, d)                  q_i + v
    content_logits: np.ndarray  # (b, h, i, j)
    logits_by_distance: np.ndarray  # (b, h, i, rows)
    position_logits: np.ndarray  # (b, h, i, j)
    two_directional: bool
    attend: AttendCache


class TransformerXLGrads(NamedTuple):
    """Gradients by the names of the arguments; the sinusoids are constants."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    position_weight: np.ndarray
    content_bias: np.ndarray
    position_bias: np.ndarray


def transformer_xl_forward(
    query, key, value, position_weight, content_bias, position_bias,
    *, two_directional=False, position_encoding=None, mask=None, query_start=None,
):
    """``e_ij = ((q_i + u) . k_j + (q_i + v) . (W r_(i-j))) / sqrt(head_dim)``.

    Parameters
    ----------
    query, key, value, mask
        As in `relpos_np.attention.attention_forward`.
    position_weight : ndarray, (num_heads, model_dim, head_dim)
        W.
    content_bias, position_bias : ndarray, (num_heads, head_dim)
        u and v.
    two_directional : bool
        False: keys to the right are hidden, whatever the mask says, because the shift puts
        numbers of other rows there. True: they have distances of their own.
    position_encoding : ndarray, (rows, model_dim), optional
        r, farthest distance first; `distances` and the sinusoids of them by default.
    query_start : int, optional
        The queries are the newest rows: key_len - query_len, the only value there is a shift
        for. Must be given when the lengths differ.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : TransformerXLCache

    Raises
    ------
    ValueError, TypeError
        If shapes, precisions or `query_start` do not fit.

    Notes
    -----
    Dai et al. 2019, section 3.3. Two-directional as in XLNet (Yang et al. 2019).
    """
    validate.attention_inputs(query, key, value, None, None, mask)
    visible = queries_are_last(query.shape[2], key.shape[2], query_start)
    if position_encoding is None:
        rows = distances(query.shape[2], key.shape[2], two_directional)
        position_encoding = sinusoidal_encoding(
            rows, position_weight.shape[-2], layout="halves", dtype=real_dtype(query)
        )
    transformer_xl_inputs(
        query, key, position_encoding, position_weight, content_bias, position_bias, two_directional
    )
    if not two_directional:
        mask = visible if mask is None else visible & mask

    position_key = np.einsum("rm,hmd->hrd", position_encoding, position_weight)
    content_query = query + content_bias[:, np.newaxis, :]
    position_query = query + position_bias[:, np.newaxis, :]
    content_logits = np.einsum("bhid,bhjd->bhij", content_query, key)
    logits_by_distance = np.einsum("bhid,hrd->bhir", position_query, position_key)
    position_logits = SHIFTS[two_directional][0](logits_by_distance)
    logits = (content_logits + position_logits) / math.sqrt(query.shape[3])
    output, attend = attend_forward(logits, value, mask)
    return output, TransformerXLCache(
        key, position_encoding, position_key, content_query, position_query, content_logits,
        logits_by_distance, position_logits, two_directional, attend,
    )


def transformer_xl_backward(grad_output, cache):
    """Gradients of `transformer_xl_forward`: (b, h, query_len, value head_dim) in."""
    validate.gradient_like("grad_output", grad_output, "output", cache.attend.output)
    grad_logits, grad_value = attend_backward(grad_output, cache.attend)
    # logits = (content_logits + position_logits) / sqrt(head_dim)
    grad_sum = grad_logits / math.sqrt(cache.key.shape[3])
    # position_logits = shift(logits_by_distance)
    grad_by_distance = SHIFTS[cache.two_directional][1](grad_sum)
    # logits_by_distance = einsum("bhid,hrd->bhir", position_query, position_key)
    grad_position_query = np.einsum("bhir,hrd->bhid", grad_by_distance, cache.position_key)
    grad_position_key = np.einsum("bhir,bhid->hrd", grad_by_distance, cache.position_query)
    # content_logits = einsum("bhid,bhjd->bhij", content_query, key)
    grad_content_query = np.einsum("bhij,bhjd->bhid", grad_sum, cache.key)
    grad_key = np.einsum("bhij,bhid->bhjd", grad_sum, cache.content_query)
    # position_key = einsum("rm,hmd->hrd", position_encoding, position_weight)
    grad_position_weight = np.einsum("rm,hrd->hmd", cache.position_encoding, grad_position_key)
    return TransformerXLGrads(
        query=grad_content_query + grad_position_query,  # query went into both
        key=grad_key,
        value=grad_value,
        position_weight=grad_position_weight,
        content_bias=grad_content_query.sum(axis=(0, 2)),
        position_bias=grad_position_query.sum(axis=(0, 2)),
    )


def distances(query_len, key_len, two_directional=False):
    """The distances i - j that the rows of r stand for, farthest first.

    >>> distances(2, 3), distances(2, 3, two_directional=True)
    (array([2, 1, 0]), array([ 3,  2,  1,  0, -1]))
    """
    first, last = (key_len, 1 - query_len) if two_directional else (key_len - 1, 0)
    return np.arange(first, last - 1, -1)
