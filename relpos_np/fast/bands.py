"""Tiled, part 2: from numbers per distance to numbers per key and back, by a view.

Between ``left`` and ``right`` each pair needs the number of its distance. Write, for each query a
of the tile, the numbers for all distances into a line: zeros for the left tail, the table rows,
the last row's number again and again for the right tail, R in all. In memory the lines follow
each other. The same memory, read with lines of R - 1: ::

    view[a, x] = memory[(n-1) + a (R-1) + x] = by_distance[a, (n-1) - a + x]

Each line begins one distance nearer the past than the line above, and that is one *key* per
column: no copy, no index. What is written through the view goes from keys to distances.
"""

from typing import NamedTuple

import numpy as np


class Distances(NamedTuple):
    """Memory for numbers by distance, and the views of it that were needed so far."""

    memory: np.ndarray  # flat
    views: dict


class Views(NamedTuple):
    """The parts of ``by_distance``, (heads, n, R), and the same memory by key."""

    left: np.ndarray  # (heads, n, n-1)         left tails
    rows: np.ndarray  # (heads, n, num_rows)    the tile's table rows
    right: np.ndarray  # (heads, n, n)          the last of them, and right tails
    by_key: np.ndarray  # (heads, n, stop-left) the keys left .. stop-1


def make_distances(heads, queries, rows, dtype):
    """Enough memory for tiles of at most so many heads, queries and table rows."""
    return Distances(np.empty(heads * queries * (rows + 2 * queries), dtype=dtype), {})


def views_of(memory, heads, tile, stop):
    """The `Views` for a tile with a column for each key before `stop`.

    Examples
    --------
    Distances from the past to the future in every line, and the keys find their own:

    >>> from relpos_np.fast.tiles import make_tiles
    >>> (tile,) = make_tiles(3, 3, query_start=0, max_relative_position=2, block=3)
    >>> views = views_of(np.tile(np.arange(tile.near - 2, tile.far + 3), 3), 1, tile, stop=3)
    >>> views.by_key
    array([[[ 0,  1,  2],
            [-1,  0,  1],
            [-2, -1,  0]]])
    """
    n, rows, item = tile.num_queries, tile.num_rows, memory.itemsize
    width = rows + 2 * (n - 1)
    by_distance = memory[: heads * n * width].reshape(heads, n, width)
    first = n - 1 + tile.left + tile.offset - tile.near
    return Views(
        left=by_distance[:, :, : n - 1],
        rows=by_distance[:, :, n - 1 : n - 1 + rows],
        right=by_distance[:, :, n - 2 + rows :],
        by_key=np.ndarray(
            (heads, n, stop - tile.left), memory.dtype, buffer=by_distance,
            offset=first * item, strides=(n * width * item, (width - 1) * item, item),
        ),
    )


def kept_views(distances, heads, tile, stop):
    """`views_of`, made once for all tiles of one shape: making them takes as long as a sum."""
    shape = heads, tile.shape, stop - tile.left
    if shape not in distances.views:
        distances.views[shape] = views_of(distances.memory, heads, tile, stop)
    return distances.views[shape]


def spread(logits, tile, stop, distances):
    """Add to each pair the product of its query with its table row, in place.

    Parameters
    ----------
    logits : ndarray, (heads, n, num_rows + keys)
        First the products with the tile's table rows, then those with the keys.
    tile : Tile
    stop : int
        Only keys before this one.
    distances : Distances
        For `spread` alone.
    """
    rows, stop = tile.num_rows, min(stop, tile.right)
    if not tile.like_previous:
        distances.memory.fill(0)  # the left tails; nobody writes there until the shape changes
    if tile.left < stop:
        views = kept_views(distances, len(logits), tile, stop)
        views.rows[...] = logits[:, :, :rows]
        views.right[...] = logits[:, :, rows - 1 : rows]
        between = logits[:, :, rows + tile.left : rows + stop]
        between += views.by_key


def collect(weights, tile, stop, distances, ones):
    """The transpose of `spread`: sum the pairs of each row into the column of its product.

    Parameters
    ----------
    weights : ndarray, (heads, n, num_rows + keys)
        The first num_rows columns are overwritten.
    tile, stop
        As in `spread`.
    distances : Distances
        For `collect` alone.
    ones : ndarray, (n or more,)
        To sum with.

    Returns
    -------
    ndarray, (heads, n), or None
        The sum of each query's pairs from ``left`` on that are in its left tail, if there are any.
    """
    rows, stop, ones = tile.num_rows, min(stop, tile.right), ones[: tile.num_queries]
    weights_by_row = weights[:, :, :rows]
    if stop <= tile.left:
        weights_by_row[...] = 0
        return None
    whole = stop - tile.left == rows + tile.num_queries - 2
    if not (whole and tile.like_previous):
        distances.memory.fill(0)  # distances without a key; two whole tiles have the same
    views = kept_views(distances, len(weights), tile, stop)
    views.by_key[...] = weights[:, :, rows + tile.left : rows + stop]
    weights_by_row[...] = views.rows
    np.matmul(views.right, ones, out=weights_by_row[:, :, -1])
    return views.left @ ones[1:]
