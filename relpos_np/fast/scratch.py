"""Tiled, part 6: the arrays that a thread uses again for tile after tile and head after head."""

from typing import NamedTuple

import numpy as np

from relpos_np.fast.bands import distance_buffer_size


class Scratch(NamedTuple):
    """Flat arrays; each use takes its beginning in the shape it needs."""

    weights: np.ndarray  # logits, then weights of a tile
    grad_weights: np.ndarray  # their gradients
    spread: np.ndarray  # numbers by distance, on the way to the keys
    collect: np.ndarray  # and on the way back
    product: np.ndarray  # what a tile adds to the gradient of keys or values


def make_scratch(plan, query, key, value, backward=False):
    """Enough for every tile of the plan's largest job."""
    heads = max(heads.stop - heads.start for _, heads in plan.jobs)
    queries = max(tile.num_queries for tile in plan.tiles)
    tokens = plan.room + key.shape[2]
    by_distance = distance_buffer_size(heads, queries, plan.room)
    head_dim = max(query.shape[3], value.shape[3])
    sizes = (
        heads * queries * tokens, backward * heads * queries * tokens,
        by_distance, by_distance, backward * heads * tokens * head_dim,
    )
    return Scratch(*(np.empty(size, dtype=query.dtype) for size in sizes))
