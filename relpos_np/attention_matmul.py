"""Equation (5): the same attention with every sum a batched matrix product (paper, section 3.3).

A matmul multiplies one matrix by one matrix per batch entry, but a^K_ij is another vector for
every pair. The paper's answer: for a fixed query position i, the rows a^K_ij over j are one
(key_len, head_dim) matrix, common to all batches and heads. So move i to the front, fold batch
and head into rows, and multiply: query_len products of (b*h, d) by (d, key_len). What never
exists is the (b, h, i, j, d) array of ``k_j + a^K_ij`` that equation (4) read literally needs.
"""

import math

from relpos_np import validate
from relpos_np.attention import AttentionCache, tables_or_zeros
from relpos_np.positions import clip_relative_position, relative_position_matrix, table_index
from relpos_np.softmax import mask_scores, softmax
from relpos_np.table import lookup


def attention_forward_matmul(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`attention_forward` in the paper's memory-saving form: same arguments, same results.

    Parameters
    ----------
    query, key, value, relative_key_table, relative_value_table, mask, query_start
        As in `attention_forward`.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : AttentionCache
        Good for `attention_backward`.

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does.

    Notes
    -----
    Shaw et al. 2018, equation (5):
    ``e_ij = (x_i W^Q (x_j W^K)^T + x_i W^Q (a^K_ij)^T) / sqrt(d_z)``.

    Examples
    --------
    >>> import numpy as np
    >>> from relpos_np.attention import attention_forward
    >>> rng = np.random.default_rng(0)
    >>> query, key, value = rng.normal(size=(3, 2, 3, 5, 4))
    >>> tables = rng.normal(size=(2, 7, 4))
    >>> by_einsum, _ = attention_forward(query, key, value, *tables)
    >>> by_matmul, _ = attention_forward_matmul(query, key, value, *tables)
    >>> np.allclose(by_matmul, by_einsum, rtol=0, atol=1e-14)
    True
    """
    validate.attention_inputs(query, key, value, relative_key_table, relative_value_table, mask)
    key_table, value_table = tables_or_zeros(query, value, relative_key_table, relative_value_table)
    max_relative_position = key_table.shape[-2] // 2
    relative_position = relative_position_matrix(query.shape[2], key.shape[2], query_start)
    clipped_position = clip_relative_position(relative_position, max_relative_position)
    index = table_index(clipped_position, max_relative_position)
    relative_key, relative_value = lookup(key_table, index), lookup(value_table, index)

    # Equation (5): two terms, each a batched matrix product.
    content_logits = query @ key.swapaxes(-1, -2)
    relative_logits = matmul_per_query(query, relative_key.swapaxes(-1, -2))
    scaled_logits = (content_logits + relative_logits) / math.sqrt(query.shape[3])
    scores = mask_scores(scaled_logits, mask)
    weights = softmax(scores)

    # Equation (3), split in the same way.
    content_output = weights @ value
    relative_output = matmul_per_query(weights, relative_value)
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


def matmul_per_query(left, right):
    """``left[b, h, i, :] @ right[i]`` for all b, h, i, as one batched matrix product.

    Parameters
    ----------
    left : ndarray, (batch, num_heads, query_len, inner)
    right : ndarray, (query_len, inner, outer) or (num_heads, query_len, inner, outer)

    Returns
    -------
    ndarray, (batch, num_heads, query_len, outer)

    Examples
    --------
    >>> import numpy as np
    >>> left = np.array([1, 10]).reshape(1, 1, 2, 1)
    >>> matmul_per_query(left, np.array([[[1, 2]], [[3, 4]]]))
    array([[[[ 1,  2],
             [30, 40]]]])
    """
    batch, num_heads, query_len, inner = left.shape
    if right.ndim == 4:  # a table per head: rows are the batch alone, one product per (h, i)
        return (left.transpose(1, 2, 0, 3) @ right).transpose(2, 0, 1, 3)
    rows = left.transpose(2, 0, 1, 3).reshape(query_len, batch * num_heads, inner)
    products = rows @ right
    return products.reshape(query_len, batch, num_heads, right.shape[-1]).transpose(1, 2, 0, 3)
