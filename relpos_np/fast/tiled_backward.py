"""Rung 3, tiled, backward: the weights of a tile are computed again, not stored.

For each block of queries: logits and weights as in the forward, the gradients of both in a second
array, and the products that lead out of the tile.
"""

import functools
import math

import numpy as np

from relpos_np import validate
from relpos_np.attention_backward import AttentionGrads
from relpos_np.fast.bands import collect
from relpos_np.fast.exponential import logits_per_nat, power
from relpos_np.fast.plan import heads_of, make_plan
from relpos_np.fast.scratch import make_scratch
from relpos_np.fast.threads import run_shares
from relpos_np.fast.tiled_table_grads import add_product, leave_right_tail, sum_like
from relpos_np.fast.virtual_tokens import (
    move_to,
    of_tile,
    products,
    tokens_in_columns,
    tokens_in_lines,
)
from relpos_np.fast.visible import hide


def tiled_backward(grad_output, cache):
    """Gradients of `tiled_forward`.

    Parameters
    ----------
    grad_output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : TiledCache

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
    grad_output = grad_output.astype(query.dtype, copy=False)
    plan = make_plan(*cache[:7])
    zeros = functools.partial(np.zeros, dtype=query.dtype)
    grads = AttentionGrads(
        query=zeros(query.shape), key=zeros(key.shape), value=zeros(value.shape),
        # Of every head, also if they share a table: threads must not add to the same numbers.
        relative_key_table=key_table if key_table is None else zeros(
            (*query.shape[:2], *key_table.shape[-2:])),
        relative_value_table=value_table if value_table is None else zeros(
            (*query.shape[:2], *value_table.shape[-2:])),
    )

    def work(jobs):
        scratch = make_scratch(plan, query, key, value, backward=True)
        for job in jobs:
            backward_heads(
                plan, heads_of(plan, job, query, key, value), scratch, cache.log_sum[job],
                cache.output[job], grad_output[job],
                AttentionGrads(*(grad if grad is None else grad[job] for grad in grads)),
            )

    run_shares(work, plan.jobs)
    return grads._replace(
        relative_key_table=sum_like(grads.relative_key_table, key_table),
        relative_value_table=sum_like(grads.relative_value_table, value_table),
    )


def backward_heads(plan, heads, scratch, log_sum, output, grad_output, grads):
    """Some heads of one batch entry: adds to `grads`, (heads, length, d) and (heads, 2k+1, d)."""
    # alpha_ij = exp(e_ij - log_sum_i): the subtraction rides along in the product.
    query = append(heads.query, np.where(np.isfinite(log_sum), -log_sum, 0), plan.scale)
    # dL/de_ij = alpha_ij (dL/dalpha_ij - delta_i), delta_i = sum_j alpha_ij dL/dalpha_ij, which is
    # grad_output_i . output_i: this one too.
    delta = np.einsum("hid,hid->hi", grad_output, output - heads.first_value_row)
    grad_out = append(grad_output, -delta)
    keys = tokens_in_columns(heads.key, heads.key_rows, plan.has_rows[0], plan.room)
    key_lines = tokens_in_lines(heads.key, heads.key_rows, plan.has_rows[0], plan.room)
    values = tokens_in_columns(heads.value, heads.value_rows, plan.has_rows[1], plan.room)
    for tile, visible in heads.tiles:
        move_to(tile, keys, key_lines, values)
        leave_right_tail(grads, tile.previous_right, tile.right)
        stop = visible.stop

        weights = weights_of(tile, visible, query, keys, heads.mask, scratch)
        grad_weights = products(grad_out, values, tile, stop, scratch.grad_weights, scratch.spread)
        grad_logits = np.multiply(weights, grad_weights, out=grad_weights)

        if values.has_rows:
            collect(weights, tile, stop, scratch.collect)
        add_product(weights, grad_output, tile, scratch, grads.value, grads[4])
        if keys.has_rows:
            collect(grad_logits, tile, stop, scratch.collect)
        add_product(grad_logits, query[:, :, :-1], tile, scratch, grads.key, grads[3])
        tokens = key_lines.vectors[:, of_tile(key_lines, tile, stop)]
        np.matmul(grad_logits, tokens, out=grads.query[:, tile.queries])
    leave_right_tail(grads, heads.tiles[-1][0].right, heads.key.shape[1])
    np.divide(grads.query, math.sqrt(heads.key.shape[2]), out=grads.query)
    for grad in (grads.key, grads.relative_key_table):
        if grad is not None:
            np.divide(grad, logits_per_nat, out=grad)  # the query was in the exponential's unit


def weights_of(tile, visible, query, keys, mask, scratch):
    """The tile's weights, as in the forward, but already divided by their sum."""
    logits = products(query, keys, tile, visible.stop, scratch.weights, scratch.spread)
    hide(logits, mask, tile, visible)
    logits[:, :, : tile.num_rows] = -np.inf
    return power(logits, out=logits)


def append(vectors, last, scale=1.0):
    """Vectors times `scale`, and one component more: (heads, n, d) to (heads, n, d + 1)."""
    heads, length, head_dim = vectors.shape
    longer = np.empty((heads, length, head_dim + 1), dtype=vectors.dtype)
    np.multiply(vectors, scale, out=longer[:, :, :-1])
    longer[:, :, -1] = last
    return longer
