"""Rung 3, tiled, backward: the weights of a tile are computed again, not stored.

For each block of queries: logits and weights as in the forward, the gradients of both in a second
array, and the products that lead out of the tile.
"""

import math

import numpy as np

from relpos_np import validate
from relpos_np.attention_backward import AttentionGrads
from relpos_np.fast.bands import collect
from relpos_np.fast.exponential import logits_per_nat, power
from relpos_np.fast.plan import heads_of, make_plan
from relpos_np.fast.scratch import make_scratch
from relpos_np.fast.threads import run_shares
from relpos_np.fast.tiled_table_grads import add_product, join_rows, leave_right_tail
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
    validate.gradient_shape("grad_output", grad_output, "output", cache.output)
    query, key, value, key_table, value_table = cache[:5]
    grad_output = grad_output.astype(query.dtype, copy=False)
    plan = make_plan(*cache[:7])
    grads = AttentionGrads(  # of the tables: rows 1 .. 2k of every head
        query=np.empty(query.shape, query.dtype), key=np.zeros(key.shape, query.dtype),
        value=np.zeros(value.shape, query.dtype),
        relative_key_table=np.zeros((len(query), *plan.key_rows.shape), query.dtype),
        relative_value_table=np.zeros((len(query), *plan.value_rows.shape), query.dtype),
    )

    def work(jobs):
        scratch = make_scratch(plan, query, key, value, backward=True)
        for job in jobs:
            backward_heads(
                plan, heads_of(plan, job, query, key, value), scratch, cache.log_sum[job],
                cache.output[job], grad_output[job], AttentionGrads(*(grad[job] for grad in grads)),
            )

    run_shares(work, plan.jobs)
    # A query's gradients of the logits sum to 0, its weights to 1 (to 0 if it sees no key).
    sees = np.isfinite(cache.log_sum)[..., np.newaxis]
    value_total = np.where(sees, grad_output, 0).sum(axis=2)
    return grads._replace(
        relative_key_table=join_rows(grads.relative_key_table, 0, key_table),
        relative_value_table=join_rows(grads.relative_value_table, value_total, value_table),
    )


def backward_heads(plan, heads, scratch, log_sum, output, grad_output, grads):
    """Some heads of one batch entry; adds to `grads`, whose tables are rows 1 .. 2k."""
    # alpha_ij = exp(e_ij - log_sum_i): the subtraction rides along in the product.
    query = append(heads.query, np.where(np.isfinite(log_sum), -log_sum, 0))
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

        logits = products(query, keys, tile, stop, scratch.weights, scratch.spread)
        hide(logits, heads.mask, tile, visible)
        logits[:, :, : tile.num_rows] = -np.inf
        weights = power(logits, out=logits)
        grad_weights = products(
            grad_out, values, tile, stop, scratch.grad_weights, scratch.spread
        )
        grad_logits = np.multiply(weights, grad_weights, out=grad_weights)

        if values.has_rows:
            collect(weights, tile, stop, scratch.collect)
        add_product(weights, grad_output, tile, scratch.product, grads.value, grads[4])
        if keys.has_rows:
            collect(grad_logits, tile, stop, scratch.collect)
        add_product(grad_logits, query[:, :, :-1], tile, scratch.product, grads.key, grads[3])
        tokens = key_lines.vectors[:, of_tile(key_lines, tile, stop)]
        np.matmul(grad_logits, tokens, out=grads.query[:, tile.queries])
    leave_right_tail(grads, heads.tiles[-1][0].right, heads.key.shape[1])
    np.divide(grads.query, math.sqrt(heads.key.shape[2]), out=grads.query)
    for grad in (grads.key, grads.relative_key_table):
        np.divide(grad, logits_per_nat, out=grad)  # the query above was in that unit


def append(vectors, last):
    """One component more: (heads, n, d) and (heads, n) to (heads, n, d + 1)."""
    return np.concatenate([vectors, last[:, :, np.newaxis].astype(vectors.dtype)], axis=-1)
