"""The whole layer: project x to queries, keys and values, split heads, attend, merge, project."""

from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.attention import AttentionCache, attention_forward
from relpos_np.attention_backward import attention_backward
from relpos_np.heads import merge_heads, split_heads


class MultiheadCache(NamedTuple):
    """Every intermediate of the layer; `attention` holds those of the heads."""

    x: np.ndarray  # (b, length, model_dim)
    query_weight: np.ndarray  # (model_dim, h * d)   W^Q
    key_weight: np.ndarray  # (model_dim, h * d)     W^K
    value_weight: np.ndarray  # (model_dim, h * value head_dim)   W^V
    output_weight: np.ndarray  # (h * value head_dim, output_dim)  W^O
    attention: AttentionCache
    merged: np.ndarray  # (b, length, h * value head_dim)   all z_i side by side
    output: np.ndarray  # (b, length, output_dim)


class MultiheadGrads(NamedTuple):
    """Gradients by the names of the arguments; None for a table that was not given."""

    x: np.ndarray
    query_weight: np.ndarray
    key_weight: np.ndarray
    value_weight: np.ndarray
    output_weight: np.ndarray
    relative_key_table: np.ndarray | None
    relative_value_table: np.ndarray | None


def multihead_forward(
    x, query_weight, key_weight, value_weight, output_weight,
    relative_key_table=None, relative_value_table=None, *, num_heads, mask=None,
    attention=attention_forward,
):
    """Multi-head self-attention with relative positions.

    Parameters
    ----------
    x : ndarray, (batch, length, model_dim)
    query_weight, key_weight : ndarray, (model_dim, num_heads * head_dim)
    value_weight : ndarray, (model_dim, num_heads * value head_dim)
    output_weight : ndarray, (num_heads * value head_dim, output_dim)
    relative_key_table, relative_value_table, mask
        As in `attention_forward`.
    num_heads : int
    attention : callable, optional
        Another function with the arguments and results of `attention_forward`.

    Returns
    -------
    output : ndarray, (batch, length, output_dim)
    cache : MultiheadCache

    Raises
    ------
    ValueError, TypeError
        If shapes or precisions do not fit, or the columns do not divide among the heads.

    Notes
    -----
    Vaswani et al. 2017, section 3.2.2, without biases, around equations (3) and (4) of Shaw et
    al. 2018. Row vectors: ``x W``, where a ``torch.nn.Linear`` holds ``W^T``.

    Examples
    --------
    >>> x = np.array([[[1.0], [3.0]]])
    >>> nothing, identity = np.zeros((1, 1)), np.ones((1, 1))
    >>> multihead_forward(x, nothing, nothing, identity, identity, num_heads=1)[0]
    array([[[2.],
            [2.]]])
    """
    weights = {
        "query_weight": query_weight, "key_weight": key_weight,
        "value_weight": value_weight, "output_weight": output_weight,
    }
    num_heads = validate.whole_number("num_heads", num_heads, minimum=1)
    validate.projections(x, weights, num_heads)
    query = split_heads(x @ query_weight, num_heads)
    key = split_heads(x @ key_weight, num_heads)
    value = split_heads(x @ value_weight, num_heads)
    attended, attention_cache = attention(
        query, key, value, relative_key_table, relative_value_table, mask=mask
    )
    merged = merge_heads(attended)
    output = merged @ output_weight
    return output, MultiheadCache(
        x=x, **weights, attention=attention_cache, merged=merged, output=output
    )


def multihead_backward(grad_output, cache, *, attention=attention_backward):
    """Gradients of a loss with respect to the arrays that `multihead_forward` was given.

    Parameters
    ----------
    grad_output : ndarray, (batch, length, output_dim)
    cache : MultiheadCache
    attention : callable, optional
        The backward of the attention that the forward was given.

    Returns
    -------
    MultiheadGrads

    Raises
    ------
    ValueError, TypeError
        If `grad_output` has not the shape and precision of the output.
    """
    validate.gradient_like("grad_output", grad_output, "output", cache.output)
    num_heads = cache.attention.query.shape[1]
    # output = merged @ output_weight
    grad_merged = grad_output @ cache.output_weight.T
    grad_output_weight = np.einsum("bim,bio->mo", cache.merged, grad_output)
    # merged = merge_heads(attended)
    grad_attended = split_heads(grad_merged, num_heads)
    # attended = attention_forward(query, key, value, tables)
    grads = attention(grad_attended, cache.attention)
    # query = split_heads(x @ query_weight), and the same for key and value
    grad_query, grad_key, grad_value = (
        merge_heads(grad) for grad in (grads.query, grads.key, grads.value)
    )
    return MultiheadGrads(
        x=grad_query @ cache.query_weight.T
        + grad_key @ cache.key_weight.T
        + grad_value @ cache.value_weight.T,
        query_weight=np.einsum("bim,bip->mp", cache.x, grad_query),
        key_weight=np.einsum("bim,bip->mp", cache.x, grad_key),
        value_weight=np.einsum("bim,bip->mp", cache.x, grad_value),
        output_weight=grad_output_weight,
        relative_key_table=grads.relative_key_table,
        relative_value_table=grads.relative_value_table,
    )
