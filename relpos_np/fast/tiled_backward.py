"""Rung 3, tiled, backward: the weights of a tile are computed again, not stored.

For each block of queries: logits and weights as in the forward, the gradients of both in a second
array, and the products that lead out of the tile.
"""

import functools
import math

import numpy as np

from relpos_np import validate
from relpos_np.attention_backward import AttentionGrads
from relpos_np.fast.plan import heads_of, make_plan
from relpos_np.fast.precision import in_working_precision
from relpos_np.fast.scratch import make_scratch
from relpos_np.fast.threads import run_shares
from relpos_np.fast.tiled_forward import only_keys
from relpos_np.fast.tiled_table_grads import add_product, sum_like
from relpos_np.fast.virtual_tokens import (
    columns_for,
    lines_for,
    of_tile,
    products,
    tokens_in_columns,
    tokens_in_lines,
    with_two_components,
)
from relpos_np.fast.visible import set_hidden


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
    query, key, value, key_table, value_table = in_working_precision(*cache[:5])
    grad_output = grad_output.astype(query.dtype, copy=False)
    plan = make_plan(query, key, value, key_table, value_table, cache.mask, cache.query_start)
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
    grads = grads._replace(
        relative_key_table=sum_like(grads.relative_key_table, key_table),
        relative_value_table=sum_like(grads.relative_value_table, value_table),
    )
    dtype = cache.query.dtype.type
    return AttentionGrads(*(g if g is None else g.astype(dtype, copy=False) for g in grads))


def backward_heads(plan, heads, scratch, log_sum, output, grad_output, grads):
    """Some heads of one batch entry: adds to `grads`, (heads, length, d) and (heads, 2k+1, d)."""
    # alpha_ij = exp(e_ij - log_sum_i), and dL/de_ij = alpha_ij (dL/dalpha_ij - delta_i) with
    # delta_i = sum_j alpha_ij dL/dalpha_ij = grad_output_i . output_i: both ride along.
    grad_query, grad_key, grad_value, grad_key_rows, grad_value_rows = grads
    logits_per_nat = heads.exponential.logits_per_nat
    scale = 1 / math.sqrt(heads.query.shape[2])
    shift = np.where(log_sum == np.inf, 0, -log_sum * logits_per_nat)  # 0 where no key is seen
    delta = np.einsum("hid,hid->hi", grad_output, output - heads.first_value_row)
    query = with_two_components(heads.query, shift, heads.key_rows, scale * logits_per_nat)
    grad_out = with_two_components(grad_output, -delta, heads.value_rows)
    keys = tokens_in_columns(heads.key, heads.key_rows, plan.has_rows[0], plan.room)
    key_lines = tokens_in_lines(heads.key, heads.key_rows, plan.has_rows[0], plan.room)
    values = tokens_in_columns(heads.value, heads.value_rows, plan.has_rows[1], plan.room)
    for tile, visible in heads.tiles:
        stop = visible.stop
        columns_for(tile, keys)
        lines_for(tile, key_lines)
        columns_for(tile, values)

        weights = weights_of(tile, visible, query, keys, heads, scratch)
        grad_weights = products(grad_out, values, tile, stop, scratch.grad_weights, scratch.spread)
        grad_logits = np.multiply(weights, grad_weights, out=grad_weights)

        add_product(weights, grad_output, tile, stop, scratch, grad_value, grad_value_rows)
        add_product(grad_logits, query[:, :, :-2], tile, stop, scratch, grad_key, grad_key_rows)
        tokens = key_lines.array[:, of_tile(key_lines, tile, stop)]
        np.matmul(grad_logits, tokens, out=grad_query[:, tile.queries])
    grad_query *= scale
    grad_key /= logits_per_nat  # the query was in the exponential's unit
    if keys.has_rows:
        grad_key_rows /= logits_per_nat


def weights_of(tile, visible, query, keys, heads, scratch):
    """The tile's weights, as in the forward, but already divided by their sum."""
    logits = products(query, keys, tile, visible.stop, scratch.weights, scratch.spread)
    if not heads.exponential.safe:
        only_keys(logits, heads.mask, tile, visible)
    weights = heads.exponential.power(logits, out=logits)
    set_hidden(weights, heads.mask, tile, visible, 0)
    return weights
