"""T5's relative bias: one trained number per head and bucket of distances, added to the logits."""

from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.encodings.attend import AttendCache, attend_backward, attend_forward, grad_dot
from relpos_np.positions import relative_position_matrix
from relpos_np.table import lookup, lookup_backward


class T5Cache(NamedTuple):
    """Every intermediate of the forward pass."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    bias_table: np.ndarray  # (num_buckets, h)
    bucket: np.ndarray  # (i, j) int
    content_logits: np.ndarray  # (b, h, i, j)
    bias: np.ndarray  # (h, i, j)
    attend: AttendCache


class T5Grads(NamedTuple):
    """Gradients by the names of the arguments."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    bias_table: np.ndarray


def t5_bucket(relative_position, num_buckets=32, max_distance=128, bidirectional=True):
    """The bucket of each distance: near ones have their own, farther ones share wider and wider.

    Parameters
    ----------
    relative_position : array_like of int
        ``j - i``.
    num_buckets : int
        At least 4 if bidirectional, else at least 2.
    max_distance : int
        From here on all share the last bucket; more than half the buckets of a side.
    bidirectional : bool
        True: the upper half of the buckets is for keys to the right. False (a causal decoder):
        all are for the left, and a key to the right falls into bucket 0.

    Returns
    -------
    ndarray of int, the shape of `relative_position`

    Raises
    ------
    ValueError
        If there are too few buckets, or the logarithmic ones have no room.

    Notes
    -----
    Raffel et al. 2020, section 2.1, and its code: with n the distance and m half of a side's
    buckets, n itself below m, and from there on
    ``m + floor(ln(n / m) / ln(max_distance / m) * (side - m))``.

    Examples
    --------
    >>> t5_bucket([-128, -16, -8, -1, 0, 1, 8, 16, 128])
    array([15, 10,  8,  1,  0, 17, 24, 26, 31])
    >>> t5_bucket([-128, -64, -16, 0, 5], bidirectional=False)
    array([31, 26, 16,  0,  0])
    """
    relative_position = np.asarray(relative_position)
    side = num_buckets // 2 if bidirectional else num_buckets
    num_exact = side // 2
    if num_exact < 1 or max_distance <= num_exact:
        raise ValueError(
            f"{num_buckets} buckets{' in two directions' if bidirectional else ''} keep distances "
            f"below {num_exact} apart, max_distance is {max_distance}: it needs at least "
            f"{4 if bidirectional else 2} buckets and a max_distance above {num_exact}"
        )
    if bidirectional:
        first = np.where(relative_position > 0, side, 0)
        distance = np.abs(relative_position)
    else:
        first, distance = 0, np.maximum(-relative_position, 0)
    ratio = np.log(np.maximum(distance, num_exact) / num_exact) / np.log(max_distance / num_exact)
    # Where the exact number is whole, rounding may leave it a hair below: 9 buckets, distance 8.
    shared = num_exact + np.floor(ratio * (side - num_exact) + 1e-9).astype(int)
    return first + np.where(distance < num_exact, distance, np.minimum(shared, side - 1))


def t5_forward(
    query, key, value, bias_table, *, max_distance=128, bidirectional=True, mask=None,
    query_start=None,
):
    """Attention with T5's bias: ``e_ij = q_i . k_j + b[bucket(j - i)]``.

    Parameters
    ----------
    query, key, value, mask, query_start
        As in `relpos_np.attention.attention_forward`.
    bias_table : ndarray, (num_buckets, num_heads)
    max_distance, bidirectional
        As in `t5_bucket`.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : T5Cache

    Raises
    ------
    ValueError, TypeError
        If shapes or precisions do not fit.

    Notes
    -----
    Raffel et al. 2020, section 2.1. T5 leaves out 1/sqrt(head_dim), which it puts into the
    initial W^Q: for the usual scale pass ``query / sqrt(head_dim)``. All layers share one table.
    """
    validate.attention_inputs(query, key, value, None, None, mask)
    validate.same_precision({"query": query, "bias_table": bias_table})
    if bias_table.ndim != 2 or bias_table.shape[1] != query.shape[1]:
        raise ValueError(
            f"bias_table has shape {bias_table.shape}; it must be (num_buckets, num_heads) with "
            f"{query.shape[1]} heads"
        )
    position = relative_position_matrix(query.shape[2], key.shape[2], query_start)
    bucket = t5_bucket(position, len(bias_table), max_distance, bidirectional)
    bias = np.moveaxis(lookup(bias_table, bucket), -1, 0)

    content_logits = np.einsum("bhid,bhjd->bhij", query, key)
    output, attend = attend_forward(content_logits + bias, value, mask)
    return output, T5Cache(query, key, bias_table, bucket, content_logits, bias, attend)


def t5_backward(grad_output, cache):
    """Gradients of `t5_forward`: (batch, num_heads, query_len, value head_dim) to `T5Grads`."""
    validate.gradient_like("grad_output", grad_output, "output", cache.attend.output)
    grad_logits, grad_value = attend_backward(grad_output, cache.attend)
    # logits = content_logits + bias, and the batch shares the bias
    grad_bias = grad_logits.sum(axis=0)
    # bias = moveaxis(lookup(bias_table, bucket), -1, 0)
    grad_table = lookup_backward(np.moveaxis(grad_bias, 0, -1), cache.bucket, len(cache.bias_table))
    # content_logits = einsum("bhid,bhjd->bhij", query, key)
    grad_query, grad_key = grad_dot(grad_logits, cache.query, cache.key)
    return T5Grads(query=grad_query, key=grad_key, value=grad_value, bias_table=grad_table)
