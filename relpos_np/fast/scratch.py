"""Tiled, part 6: the arrays that a thread uses again for tile after tile and head after head."""

from typing import NamedTuple

import numpy as np

from relpos_np.fast.bands import Distances, make_distances


class Scratch(NamedTuple):
    """Flat arrays: each use takes the beginning, in the shape it needs."""

    weights: np.ndarray  # logits, then weights of a tile
    grad_weights: np.ndarray  # their gradients
    spread: Distances  # numbers by distance, on the way to the keys
    collect: Distances  # and on the way back
    product: np.ndarray  # what a tile adds to the gradient of keys or values
    ones: np.ndarray  # numbers @ ones is their sum, and BLAS adds fastest


def make_scratch(plan, query, key, value, backward=False):
    """Enough for every tile of the plan's largest job."""
    heads = max(heads.stop - heads.start for _, heads in plan.jobs)
    queries = max(tile.num_queries for tile in plan.tiles)
    tokens, dtype = plan.room + key.shape[2], query.dtype
    by_token, head_dim = heads * queries * tokens, max(query.shape[3], value.shape[3])
    return Scratch(
        weights=np.empty(by_token, dtype),
        grad_weights=np.empty(backward * by_token, dtype),
        spread=make_distances(heads, queries, plan.room, dtype),
        collect=make_distances(heads, queries, plan.room, dtype),
        product=np.empty(backward * heads * tokens * head_dim, dtype),
        ones=np.ones(max(queries, key.shape[2]), dtype),
    )
