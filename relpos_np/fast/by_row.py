"""What gather and the two skews share: a number per pair, never a vector per pair.

``attention_forward`` looks up a vector a_ij for every pair: (query_len, key_len, head_dim) numbers,
read once for the logits and once for the values. But those vectors are only R table rows, again
and again. So multiply each query by each *row*, and move the products to the pairs::

    logits_by_row[i, r]   = q_i . relative_key_table[r]          one matrix product
    relative_logits[i, j] = logits_by_row[i, row of (i, j)]      spread

    weights_by_row[i, r]  = sum of alpha_ij over the j of row r  collect
    relative_output[i]    = sum_r weights_by_row[i, r] relative_value_table[r]     another

The two products cost 4 L R d operations per head where the sums over pairs cost 4 L^2 d. *Spread*
and *collect* only move numbers, and as matrices they are each other's transpose: the backward of
one is the other. A rung is a way to do the two; the attention around them is written once, here.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.attention import tables_or_zeros
from relpos_np.attention_backward import AttentionGrads
from relpos_np.softmax import softmax, softmax_backward


class ByRowCache(NamedTuple):
    """Every intermediate that the backward needs, in the order in which it is made."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    value: np.ndarray  # (b, h, j, value head_dim)
    relative_key_table: np.ndarray | None  # (2k+1, d) or (h, 2k+1, d)
    relative_value_table: np.ndarray | None  # likewise, value head_dim
    spread: Callable  # (b, h, i, r) to (b, h, i, j)
    collect: Callable  # (b, h, i, j) to (b, h, i, r)
    logits_by_row: np.ndarray  # (b, h, i, r)
    weights: np.ndarray  # (b, h, i, j)
    weights_by_row: np.ndarray  # (b, h, i, r)
    output: np.ndarray  # (b, h, i, value head_dim)


def by_row_forward(
    query, key, value, relative_key_table, relative_value_table, mask, spread, collect
):
    """Equations (3) and (4) by a rung's `spread` and `collect`; arguments already validated."""
    key_table, value_table = tables_or_zeros(query, value, relative_key_table, relative_value_table)

    # Equation (4): q_i . k_j, and the products with the rows spread to the pairs.
    content_logits = query @ key.swapaxes(-1, -2)
    logits_by_row = query @ key_table.swapaxes(-1, -2)
    scaled_logits = (content_logits + spread(logits_by_row)) / math.sqrt(query.shape[3])
    weights = softmax(scaled_logits, mask)

    # Equation (3): alpha_ij v_j, and the weights collected per row times the rows.
    weights_by_row = collect(weights)
    output = weights @ value + weights_by_row @ value_table

    return output, ByRowCache(
        query=query, key=key, value=value,
        relative_key_table=relative_key_table, relative_value_table=relative_value_table,
        spread=spread, collect=collect, logits_by_row=logits_by_row,
        weights=weights, weights_by_row=weights_by_row, output=output,
    )


def by_row_backward(grad_output, cache):
    """Gradients of `by_row_forward`, its lines in reverse.

    Parameters
    ----------
    grad_output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache

    Returns
    -------
    AttentionGrads

    Raises
    ------
    ValueError
        If `grad_output` does not have the shape of the output.
    """
    validate.gradient_like("grad_output", grad_output, "output", cache.output)
    query, key, value, key_table, value_table = cache[:5]
    key_rows, value_rows = tables_or_zeros(query, value, key_table, value_table)

    # output = weights @ value + weights_by_row @ value_table
    grad_weights_by_row = grad_output @ value_rows.swapaxes(-1, -2)
    grad_value = cache.weights.swapaxes(-1, -2) @ grad_output
    # weights_by_row = collect(weights)
    grad_weights = grad_output @ value.swapaxes(-1, -2) + cache.spread(grad_weights_by_row)

    # scaled_logits = (content_logits + spread(logits_by_row)) / sqrt(head_dim)
    grad_logits = softmax_backward(grad_weights, cache.weights) / math.sqrt(query.shape[3])
    grad_logits_by_row = cache.collect(grad_logits)

    # logits_by_row = query @ key_table^T, content_logits = query @ key^T
    grad_query = grad_logits @ key + grad_logits_by_row @ key_rows
    grad_key = grad_logits.swapaxes(-1, -2) @ query

    return AttentionGrads(
        query=grad_query, key=grad_key, value=grad_value,
        relative_key_table=table_gradient(grad_logits_by_row, query, key_table),
        relative_value_table=table_gradient(cache.weights_by_row, grad_output, value_table),
    )


def table_gradient(by_row, vectors, table):
    """``sum_i by_row[i, r] vectors[i]``, over batch too, and over heads that share the table.

    Parameters
    ----------
    by_row : ndarray, (batch, num_heads, query_len, r)
    vectors : ndarray, (batch, num_heads, query_len, d)
    table : ndarray, (r, d) or (num_heads, r, d), or None

    Returns
    -------
    ndarray, the shape of `table`, or None
    """
    if table is None:
        return None
    per_head = by_row.swapaxes(-1, -2) @ vectors
    return per_head.sum(axis=(0, 1) if table.ndim == 2 else 0)
