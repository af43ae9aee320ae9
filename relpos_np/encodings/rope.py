"""RoPE: queries and keys are rotated by their position, so that their product knows j - i."""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.encodings.attend import AttendCache, attend_backward, attend_forward, grad_dot
from relpos_np.encodings.rotation import rope_angle, rotate
from relpos_np.positions import relative_position_matrix


class RopeCache(NamedTuple):
    """Every intermediate of the forward pass."""

    layout: str
    query_angle: np.ndarray  # (i, d/2)
    key_angle: np.ndarray  # (j, d/2)
    rotated_query: np.ndarray  # (b, h, i, d)
    rotated_key: np.ndarray  # (b, h, j, d)   what a KV cache would hold
    attend: AttendCache


class RopeGrads(NamedTuple):
    """Gradients by the names of the arguments."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray


def rope_forward(
    query, key, value, *, base=10000.0, layout="half", mask=None, query_start=None
):
    """Attention of rotated queries and keys: ``e_ij = (R_i q_i) . (R_j k_j) / sqrt(head_dim)``.

    Parameters
    ----------
    query, key, value, mask, query_start
        As in `relpos_np.attention.attention_forward`; head_dim must be even.
    base, layout
        As in `rotation.rope_angle` and `rotation.rotate`.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : RopeCache

    Raises
    ------
    ValueError, TypeError
        If shapes or precisions do not fit, head_dim is odd, or the layout is unknown.

    Notes
    -----
    Su et al. 2021, equation (16): ``(R_i q)^T (R_j k) = q^T R_(j-i) k``. Nothing is added to the
    logits or the values, and there is nothing to learn.
    """
    validate.attention_inputs(query, key, value, None, None, mask)
    query_start = first_query(query.shape[2], key.shape[2], query_start)
    query_angle = rope_angle(query_start + np.arange(query.shape[2]), query.shape[3], base)
    key_angle = rope_angle(np.arange(key.shape[2]), key.shape[3], base)

    rotated_query = rotate(query, query_angle, layout)
    rotated_key = rotate(key, key_angle, layout)
    logits = np.einsum("bhid,bhjd->bhij", rotated_query, rotated_key) / math.sqrt(query.shape[3])
    output, attend = attend_forward(logits, value, mask)
    return output, RopeCache(layout, query_angle, key_angle, rotated_query, rotated_key, attend)


def first_query(query_len, key_len, query_start):
    """`query_start` under the rule of all rooms: 0 by default, but said when lengths differ."""
    relative_position_matrix(query_len, key_len, query_start)  # raises
    return query_start or 0


def rope_backward(grad_output, cache):
    """Gradients of `rope_forward`: a gradient turns back by the angle that its input turned."""
    validate.gradient_like("grad_output", grad_output, "output", cache.attend.output)
    grad_logits, grad_value = attend_backward(grad_output, cache.attend)
    # logits = einsum("bhid,bhjd->bhij", rotated_query, rotated_key) / sqrt(head_dim)
    grad_dots = grad_logits / math.sqrt(cache.rotated_query.shape[3])
    grad_rotated_query, grad_rotated_key = grad_dot(
        grad_dots, cache.rotated_query, cache.rotated_key
    )
    # rotated = rotate(x, angle): a rotation's transpose is its inverse
    return RopeGrads(
        query=rotate(grad_rotated_query, -cache.query_angle, cache.layout),
        key=rotate(grad_rotated_key, -cache.key_angle, cache.layout),
        value=grad_value,
    )
