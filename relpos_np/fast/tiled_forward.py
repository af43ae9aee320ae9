"""Rung 3, tiled, forward: no array of (query_len, key_len) at all.

The logits of a block of queries live in a small array that stays in the cache and is used again
for the next block: product, distances, exponential, product. This file is the algorithm; its
parts, in order: tiles, bands, virtual_tokens, exponential, visible, scratch, plan, threads,
precision.
"""

import math
from typing import NamedTuple

import numpy as np

from relpos_np import validate
from relpos_np.fast.bands import collect
from relpos_np.fast.plan import heads_of, make_plan
from relpos_np.fast.precision import in_working_precision
from relpos_np.fast.scratch import make_scratch
from relpos_np.fast.threads import run_shares
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


class TiledCache(NamedTuple):
    """What the backward cannot compute again tile by tile: the output, and a number per query."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    value: np.ndarray  # (b, h, j, value head_dim)
    relative_key_table: np.ndarray | None  # (2k+1, d) or (h, 2k+1, d)
    relative_value_table: np.ndarray | None  # likewise, value head_dim
    mask: np.ndarray | None  # bool, True = may attend
    query_start: int | None
    log_sum: np.ndarray  # (b, h, i)   log of sum_j exp(e_ij), with row 0 subtracted from the table
    output: np.ndarray  # (b, h, i, value head_dim)


def tiled_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`attention_forward` block by block: memory grows with the length, not with its square.

    Takes the arguments of `attention_forward`, any mask. Not for complex numbers.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : TiledCache
        For `tiled_backward`.

    Raises
    ------
    ValueError, TypeError
        As `attention_forward` does.

    Notes
    -----
    NaN and infinity spread by blocks of queries, unlike in `attention_forward`: keys and values
    after the last key that a block may see are not read; a row of the value table reaches every
    query of a block that reads it; and row 0 of a table, subtracted from all rows, every query.

    Examples
    --------
    >>> zeros, value = np.zeros((1, 1, 2, 1)), np.array([[[[1.0], [3.0]]]])
    >>> tiled_forward(zeros, zeros, value, None, np.array([[-10.0], [0.0], [10.0]]))[0]
    array([[[[ 7.],
             [-3.]]]])
    """
    arguments = query, key, value, relative_key_table, relative_value_table
    validate.attention_inputs(*arguments, mask)
    query, key, value, *tables = in_working_precision(*arguments)
    plan = make_plan(query, key, value, *tables, mask, query_start)
    output = np.empty((*query.shape[:3], value.shape[3]), dtype=query.dtype)
    log_sum = np.empty(query.shape[:3], dtype=query.dtype)

    def work(jobs):
        scratch = make_scratch(plan, query, key, value)
        for job in jobs:
            heads = heads_of(plan, job, query, key, value)
            forward_heads(plan, heads, scratch, output[job], log_sum[job])

    run_shares(work, plan.jobs)
    output = output.astype(arguments[0].dtype.type, copy=False)
    return output, TiledCache(
        *arguments, mask=mask, query_start=query_start, log_sum=log_sum, output=output
    )


def forward_heads(plan, heads, scratch, output, log_sum):
    """Some heads of one batch entry: `output` (heads, i, d) and `log_sum` (heads, i), in place."""
    power, logarithm, logits_per_nat, safe = heads.exponential
    scale = logits_per_nat / math.sqrt(heads.query.shape[2])
    query = with_two_components(heads.query, 0, heads.key_rows, scale)
    keys = tokens_in_columns(heads.key, heads.key_rows, plan.has_rows[0], plan.room)
    values = tokens_in_lines(heads.value, heads.value_rows, plan.has_rows[1], plan.room)
    for tile, visible in heads.tiles:
        columns_for(tile, keys)
        lines_for(tile, values)

        # e_ij = q_i . (k_j + a^K_ij) / sqrt(head_dim)
        logits = products(query, keys, tile, visible.stop, scratch.weights, scratch.spread)

        # alpha_ij, not yet divided by its sum
        shift = 0 if safe else subtract_maximum(logits, heads.mask, tile, visible)
        weights = power(logits, out=logits)
        set_hidden(weights, heads.mask, tile, visible, 0)
        row_sum = weights[:, :, tile.num_rows :] @ scratch.ones[: visible.stop]
        row_sum[row_sum == 0] = np.inf  # a query that sees no key: weights 0 / inf

        # z_i = sum_j alpha_ij (v_j + a^V_ij), and now the division: (n, d) numbers, not (n, keys)
        if values.has_rows:
            collect(weights, tile, visible.stop, scratch.collect, scratch.ones)
        tokens = values.array[:, of_tile(values, tile, visible.stop)]
        np.matmul(weights, tokens, out=output[:, tile.queries])
        output[:, tile.queries] /= row_sum[:, :, np.newaxis]
        log_sum[:, tile.queries] = (shift + logarithm(row_sum)) / logits_per_nat
    output += heads.first_value_row
    output[log_sum == np.inf] = 0


def subtract_maximum(logits, mask, tile, visible):
    """Subtract from each query's logits the largest of a visible key, in place.

    Returns
    -------
    ndarray, (heads, n)
        What was subtracted; 0 from a query that sees no key.
    """
    only_keys(logits, mask, tile, visible)
    row_max = logits.max(axis=-1, initial=-np.inf)
    row_max[row_max == -np.inf] = 0
    logits -= row_max[:, :, np.newaxis]
    return row_max


def only_keys(logits, mask, tile, visible):
    """Set the logits of virtual tokens and of hidden keys to minus infinity, in place."""
    logits[:, :, : tile.num_rows] = -np.inf
    set_hidden(logits, mask, tile, visible, -np.inf)
