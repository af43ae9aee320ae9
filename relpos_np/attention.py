"""Relation-aware self-attention, forward: equations (3) and (4) of Shaw et al. 2018.

One einsum alphabet: b batch, h head, i query, j key, d head_dim. A table shared by the heads
gives pairs "ijd", a table per head gives "hijd"; that is the only difference between the two.
"""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.positions import clip_relative_position, relative_position_matrix, table_index
from relpos_np.softmax import mask_scores, softmax
from relpos_np.table import lookup


class AttentionCache(NamedTuple):
    """Every intermediate of the forward pass, in the order in which it is made.

    Holds the arrays that were given, no copies: change none of them before the backward.
    """

    query: np.ndarray  # (b, h, i, d)                    x W^Q
    key: np.ndarray  # (b, h, j, d)                      x W^K
    value: np.ndarray  # (b, h, j, value head_dim)       x W^V
    relative_key_table: np.ndarray | None  # (2k+1, d) or (h, 2k+1, d)   w^K
    relative_value_table: np.ndarray | None  # likewise, value head_dim  w^V
    mask: np.ndarray | None  # bool, True = may attend
    relative_position: np.ndarray  # (i, j) int          j - i
    clipped_position: np.ndarray  # (i, j) int           clip(j - i, -k, k)
    index: np.ndarray  # (i, j) int                      table row
    relative_key: np.ndarray  # (i, j, d) or (h, i, j, d)     a^K_ij
    relative_value: np.ndarray  # likewise, value head_dim    a^V_ij
    content_logits: np.ndarray  # (b, h, i, j)           q_i . k_j
    relative_logits: np.ndarray  # (b, h, i, j)          q_i . a^K_ij
    scaled_logits: np.ndarray  # (b, h, i, j)            e_ij before the mask
    scores: np.ndarray  # (b, h, i, j)                   e_ij, -inf where masked
    weights: np.ndarray  # (b, h, i, j)                  alpha_ij
    content_output: np.ndarray  # (b, h, i, value head_dim)   sum_j alpha_ij v_j
    relative_output: np.ndarray  # (b, h, i, value head_dim)  sum_j alpha_ij a^V_ij
    output: np.ndarray  # (b, h, i, value head_dim)      z_i


def attention_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """Self-attention in which every pair (i, j) also has a key and a value of its distance.

    Parameters
    ----------
    query : ndarray, (batch, num_heads, query_len, head_dim)
    key : ndarray, (batch, num_heads, key_len, head_dim)
    value : ndarray, (batch, num_heads, key_len, value head_dim)
    relative_key_table : ndarray, (2k+1, head_dim) or (num_heads, 2k+1, head_dim), optional
    relative_value_table : ndarray, the same with value head_dim, optional
        A table left out leaves out its term.
    mask : ndarray of bool, broadcastable to (batch, num_heads, query_len, key_len), optional
        True = may attend. A padding mask (batch, key_len) is ``mask[:, None, None, :]``.
    query_start : int, optional
        Position of the first query among the keys; must be given when the lengths differ.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : AttentionCache

    Raises
    ------
    ValueError, TypeError
        If shapes, precisions, the mask or `query_start` do not fit; the message says how to mend.

    Notes
    -----
    Shaw et al. 2018: (4) ``e_ij = q_i . (k_j + a^K_ij) / sqrt(head_dim)``, softmax over j, and
    (3) ``z_i = sum_j alpha_ij (v_j + a^V_ij)``, both multiplied out into their two halves.

    Examples
    --------
    Equal scores, so z_i is the mean of the values plus the mean of the rows that i reads:

    >>> zeros, value = np.zeros((1, 1, 2, 1)), np.array([[[[1.0], [3.0]]]])
    >>> attention_forward(zeros, zeros, value, None, np.array([[-10.0], [0.0], [10.0]]))[0]
    array([[[[ 7.],
             [-3.]]]])
    """
    validate.attention_inputs(query, key, value, relative_key_table, relative_value_table, mask)
    query_len, key_len, head_dim = query.shape[2], key.shape[2], query.shape[3]
    # A term that is left out is a table of zeros.
    key_table, value_table = tables_or_zeros(query, value, relative_key_table, relative_value_table)
    max_relative_position = key_table.shape[-2] // 2

    # Steps 1 to 4: positions, clip, table rows, lookup.
    relative_position = relative_position_matrix(query_len, key_len, query_start)
    clipped_position = clip_relative_position(relative_position, max_relative_position)
    index = table_index(clipped_position, max_relative_position)
    relative_key, relative_value = lookup(key_table, index), lookup(value_table, index)
    key_pairs, value_pairs = pair_axes(relative_key), pair_axes(relative_value)

    # Steps 5 and 6: the two halves of equation (4), scale, mask, softmax.
    content_logits = np.einsum("bhid,bhjd->bhij", query, key)
    relative_logits = np.einsum(f"bhid,{key_pairs}->bhij", query, relative_key)
    scaled_logits = (content_logits + relative_logits) / math.sqrt(head_dim)
    scores = mask_scores(scaled_logits, mask)
    weights = softmax(scores)

    # The two halves of equation (3).
    content_output = np.einsum("bhij,bhjd->bhid", weights, value)
    relative_output = np.einsum(f"bhij,{value_pairs}->bhid", weights, relative_value)
    output = content_output + relative_output

    return output, AttentionCache(
        query=query, key=key, value=value,
        relative_key_table=relative_key_table, relative_value_table=relative_value_table,
        mask=mask, relative_position=relative_position, clipped_position=clipped_position,
        index=index, relative_key=relative_key, relative_value=relative_value,
        content_logits=content_logits, relative_logits=relative_logits,
        scaled_logits=scaled_logits, scores=scores, weights=weights,
        content_output=content_output, relative_output=relative_output, output=output,
    )


def tables_or_zeros(query, value, relative_key_table, relative_value_table):
    """Both tables, a missing one as zeros with the rows of the other (one row if both are)."""
    given = relative_value_table if relative_key_table is None else relative_key_table
    num_rows = 1 if given is None else given.shape[-2]
    if relative_key_table is None:
        relative_key_table = np.zeros((num_rows, query.shape[3]), dtype=query.dtype)
    if relative_value_table is None:
        relative_value_table = np.zeros((num_rows, value.shape[3]), dtype=value.dtype)
    return relative_key_table, relative_value_table


def pair_axes(relative):
    """Einsum letters of looked-up pairs: shared by the heads, or one array per head."""
    return "ijd" if relative.ndim == 3 else "hijd"
