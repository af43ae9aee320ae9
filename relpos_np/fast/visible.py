"""Tiled, part 5: what a mask leaves of a tile.

Most masks are simple: causal, padding, a window. Per tile two things are looked up: how far to the
right any of its queries sees (keys beyond are not even computed, which saves a causal mask half
the work), and between which keys some pair is hidden (only there the mask is applied).
"""

from typing import NamedTuple

import numpy as np


class Visible(NamedTuple):
    """Keys of a tile, by what its queries may see."""

    stop: int  # no query sees this key or one after it
    hidden_from: int  # all queries see all keys before this one,
    hidden_to: int  # and all from this one to `stop`


def visible_keys(mask, tile, key_len):
    """Look at the mask of a tile.

    Parameters
    ----------
    mask : ndarray of bool, (heads or 1, query_len or 1, key_len or 1), or None
    tile : Tile
    key_len : int

    Returns
    -------
    Visible

    Examples
    --------
    >>> from relpos_np.fast.tiles import make_tiles
    >>> tile = make_tiles(6, 6, query_start=0, max_relative_position=1, block=2)[1]
    >>> visible_keys(np.tri(6, dtype=bool)[np.newaxis], tile, key_len=6)
    Visible(stop=4, hidden_from=3, hidden_to=4)
    """
    if mask is None:
        return Visible(key_len, key_len, key_len)
    mask = of_queries(mask, tile)
    seen = np.flatnonzero(np.broadcast_to(mask.any(axis=(0, 1)), key_len))
    stop = int(seen[-1]) + 1 if seen.size else 0
    hidden = np.flatnonzero(~np.broadcast_to(mask.all(axis=(0, 1)), key_len)[:stop])
    return Visible(stop, int(hidden[0]), int(hidden[-1]) + 1) if hidden.size else Visible(
        stop, stop, stop
    )


def of_queries(mask, tile):
    """The mask of a tile's queries; a single line is for every query."""
    return mask[:, tile.queries] if mask.shape[1] > 1 else mask


def set_hidden(numbers, mask, tile, visible, number):
    """Set what belongs to hidden pairs to `number`, in place; (heads, n, num_rows + keys)."""
    if visible.hidden_from < visible.hidden_to:
        keys = slice(visible.hidden_from, visible.hidden_to)
        hidden = ~of_queries(mask, tile)
        hidden = hidden[:, :, keys] if hidden.shape[2] > 1 else hidden
        np.copyto(numbers[:, :, tile.num_rows :][:, :, keys], number, where=hidden)
