"""Music Transformer: Shaw's term for the past, by one matrix product and a skew.

Where Shaw looks up a vector per pair, (query_len, key_len, head_dim) numbers, here every query
meets each *distance* once, and a reshape moves the products under their keys. Without a clip:
further back than the window there is no relative term.
"""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.encodings.attend import AttendCache, attend_backward, attend_forward, grad_dot
from relpos_np.encodings.relative_shift import relative_shift, relative_shift_backward
from relpos_np.encodings.shift_inputs import check_windows, queries_are_last


class MusicTransformerCache(NamedTuple):
    """Every intermediate of the forward pass."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    window: int  # m
    key_rows: np.ndarray  # (j, d) or (h, j, d)   the table for distances key_len-1 .. 0
    value_rows: np.ndarray | None  # likewise, value head_dim
    content_logits: np.ndarray  # (b, h, i, j)
    logits_by_distance: np.ndarray  # (b, h, i, j)
    relative_logits: np.ndarray  # (b, h, i, j)
    weights_by_distance: np.ndarray  # (b, h, i, j)
    output: np.ndarray  # (b, h, i, value head_dim)
    attend: AttendCache


class MusicTransformerGrads(NamedTuple):
    """Gradients by the names of the arguments; None for a table that was not given."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    key_window: np.ndarray
    value_window: np.ndarray | None


def music_transformer_forward(
    query, key, value, key_window, value_window=None, *, mask=None, query_start=None
):
    """``e_ij = q_i . (k_j + a^K_(j-i)) / sqrt(head_dim)`` for j <= i, by the skew.

    Parameters
    ----------
    query, key, value, mask
        As in `relpos_np.attention.attention_forward`. Keys to the right are hidden, whatever
        the mask says, because the skew puts numbers of other rows there.
    key_window : ndarray, (m, head_dim) or (num_heads, m, head_dim)
        Rows for ``j - i = -(m-1) .. 0``.
    value_window : ndarray, the same with value head_dim, optional
        Not in the paper; tensor2tensor has it.
    query_start : int, optional
        As in `transformer_xl_forward`: the queries are the newest rows.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : MusicTransformerCache

    Raises
    ------
    ValueError, TypeError
        If shapes, precisions or `query_start` do not fit.

    Notes
    -----
    Huang et al. 2019, section 3.4.1. `relpos_np.conventions.from_causal_window` makes the
    table with which `attention_forward`, under a causal mask, computes the same.
    """
    validate.attention_inputs(query, key, value, None, None, mask)
    check_windows(query, value, key_window, value_window)
    visible = queries_are_last(query.shape[2], key.shape[2], query_start)
    mask = visible if mask is None else visible & mask
    key_rows = rows_for_length(key_window, key.shape[2])

    content_logits = np.einsum("bhid,bhjd->bhij", query, key)
    logits_by_distance = np.einsum(f"bhid,{axes(key_rows)}->bhir", query, key_rows)
    relative_logits = relative_shift(logits_by_distance)
    logits = (content_logits + relative_logits) / math.sqrt(query.shape[3])
    output, attend = attend_forward(logits, value, mask)

    value_rows, weights_by_distance = None, relative_shift_backward(attend.weights)
    if value_window is not None:
        value_rows = rows_for_length(value_window, key.shape[2])
        output = output + np.einsum(
            f"bhir,{axes(value_rows)}->bhid", weights_by_distance, value_rows
        )
    return output, MusicTransformerCache(
        query, key, key_window.shape[-2], key_rows, value_rows, content_logits,
        logits_by_distance, relative_logits, weights_by_distance, output, attend,
    )


def music_transformer_backward(grad_output, cache):
    """Gradients of `music_transformer_forward`: (b, h, query_len, value head_dim) in."""
    validate.gradient_like("grad_output", grad_output, "output", cache.output)
    grad_value_window, grad_weights_relative = None, 0
    if cache.value_rows is not None:
        value_axes = axes(cache.value_rows)
        # output += einsum("bhir,rd->bhid", weights_by_distance, value_rows)
        grad_by_distance = np.einsum(f"bhid,{value_axes}->bhir", grad_output, cache.value_rows)
        grad_rows = np.einsum(f"bhir,bhid->{value_axes}", cache.weights_by_distance, grad_output)
        grad_value_window = rows_for_length(grad_rows, cache.window)
        # weights_by_distance = relative_shift_backward(weights), and its transpose is the shift
        grad_weights_relative = relative_shift(grad_by_distance)
    grad_logits, grad_value = attend_backward(grad_output, cache.attend, grad_weights_relative)
    # logits = (content_logits + relative_logits) / sqrt(head_dim)
    grad_sum = grad_logits / math.sqrt(cache.query.shape[3])
    # relative_logits = relative_shift(logits_by_distance)
    grad_by_distance = relative_shift_backward(grad_sum)
    # logits_by_distance = einsum("bhid,rd->bhir", query, key_rows)
    key_axes = axes(cache.key_rows)
    grad_query_relative = np.einsum(f"bhir,{key_axes}->bhid", grad_by_distance, cache.key_rows)
    grad_rows = np.einsum(f"bhir,bhid->{key_axes}", grad_by_distance, cache.query)
    # content_logits = einsum("bhid,bhjd->bhij", query, key)
    grad_query_content, grad_key = grad_dot(grad_sum, cache.query, cache.key)
    return MusicTransformerGrads(
        query=grad_query_content + grad_query_relative, key=grad_key, value=grad_value,
        key_window=rows_for_length(grad_rows, cache.window), value_window=grad_value_window,
    )


def rows_for_length(window, length):
    """The last `length` rows, zeros in front where there are fewer.

    Its own transpose: the gradient of the window is ``rows_for_length(grad_rows, m)``.

    >>> rows_for_length(np.array([[1], [2], [3]]), 2).T, rows_for_length(np.array([[3]]), 2).T
    (array([[2, 3]]), array([[0, 3]]))
    """
    *heads, num_rows, head_dim = window.shape
    zeros = np.zeros((*heads, max(length - num_rows, 0), head_dim), dtype=window.dtype)
    return np.concatenate([zeros, window[..., max(num_rows - length, 0) :, :]], axis=-2)


def axes(rows):
    """Einsum letters: shared by the heads, or one table per head."""
    return "rd" if rows.ndim == 2 else "hrd"
