"""The way back through `attention_forward`: its lines in reverse, each under the line it undoes."""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.attention import AttentionCache, pair_axes
from relpos_np.softmax import softmax_backward
from relpos_np.table import lookup_backward


class AttentionGrads(NamedTuple):
    """Gradients by the names of the arguments; None for a table that was not given."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    relative_key_table: np.ndarray | None
    relative_value_table: np.ndarray | None


def attention_backward(grad_output, cache):
    """Gradients of a loss with respect to the five inputs of `attention_forward`.

    Parameters
    ----------
    grad_output : ndarray, (batch, num_heads, query_len, value head_dim)
        Gradient of the loss with respect to the output, dL/dz_i.
    cache : AttentionCache
        From the forward pass.

    Returns
    -------
    AttentionGrads
        Arrays of the shapes of the inputs.

    Raises
    ------
    ValueError, TypeError
        If `grad_output` has not the shape and precision of the output, or `cache` is no cache.

    Notes
    -----
    The derivative of equations (3) and (4) of Shaw et al. 2018. Two forward terms that share a
    factor give two terms in its gradient: weights met both v_j and a^V_ij, query met both k_j
    and a^K_ij.

    Examples
    --------
    One query, one key: the weight is 1 whatever the score, so only value and its table row learn.

    >>> from relpos_np.attention import attention_forward
    >>> one, row = np.ones((1, 1, 1, 1)), np.ones((1, 1))
    >>> output, cache = attention_forward(one, one, one, row, row)
    >>> [grad.item() for grad in attention_backward(5 * one, cache)]
    [0.0, 0.0, 5.0, 0.0, 5.0]
    """
    refuse_other_caches(cache)
    validate.gradient_like("grad_output", grad_output, "output", cache.output)
    key_pairs, value_pairs = pair_axes(cache.relative_key), pair_axes(cache.relative_value)
    num_rows = table_rows(cache)

    # output = content_output + relative_output
    grad_content_output = grad_output
    grad_relative_output = grad_output

    # relative_output = einsum("bhij,ijd->bhid", weights, relative_value)
    grad_weights_relative = np.einsum(
        f"bhid,{value_pairs}->bhij", grad_relative_output, cache.relative_value
    )
    grad_relative_value = np.einsum(
        f"bhij,bhid->{value_pairs}", cache.weights, grad_relative_output
    )
    # content_output = einsum("bhij,bhjd->bhid", weights, value)
    grad_weights_content = np.einsum("bhid,bhjd->bhij", grad_content_output, cache.value)
    grad_value = np.einsum("bhij,bhid->bhjd", cache.weights, grad_content_output)

    # weights = softmax(scores), and a masked pair's weight is 0, so its gradient is too
    grad_weights = grad_weights_content + grad_weights_relative
    grad_scores = softmax_backward(grad_weights, cache.weights)

    # scaled_logits = (content_logits + relative_logits) / sqrt(head_dim)
    grad_logits = grad_scores / math.sqrt(cache.query.shape[3])

    # relative_logits = einsum("bhid,ijd->bhij", query, relative_key)
    grad_query_relative = np.einsum(f"bhij,{key_pairs}->bhid", grad_logits, cache.relative_key)
    grad_relative_key = np.einsum(f"bhij,bhid->{key_pairs}", grad_logits, cache.query)
    # content_logits = einsum("bhid,bhjd->bhij", query, key)
    grad_query_content = np.einsum("bhij,bhjd->bhid", grad_logits, cache.key)
    grad_key = np.einsum("bhij,bhid->bhjd", grad_logits, cache.query)
    grad_query = grad_query_content + grad_query_relative

    # relative_key = lookup(relative_key_table, index), and the same for value
    grad_key_table = lookup_backward(grad_relative_key, cache.index, num_rows)
    grad_value_table = lookup_backward(grad_relative_value, cache.index, num_rows)

    return AttentionGrads(
        query=grad_query, key=grad_key, value=grad_value,
        relative_key_table=None if cache.relative_key_table is None else grad_key_table,
        relative_value_table=None if cache.relative_value_table is None else grad_value_table,
    )


def table_rows(cache):
    """2k+1, read off the tables that were given (one row of zeros if none was)."""
    tables = (cache.relative_key_table, cache.relative_value_table)
    return next((table.shape[-2] for table in tables if table is not None), 1)


def refuse_other_caches(cache):
    if not isinstance(cache, AttentionCache):
        raise TypeError(
            f"cache is a {type(cache).__name__}: pass the second of the two things that "
            f"attention_forward returns, output and cache"
        )
