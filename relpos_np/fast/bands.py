"""Tiled, part 2: from numbers per distance to numbers per key and back, by a view.

Between ``left`` and ``right`` each pair needs the number of its distance. Write, for each query a
of the tile, the numbers for all distances into a line: zeros for the left tail, the table rows,
the last row's number again and again for the right tail, R in all. In memory the lines follow
each other. The same memory, read with lines of R - 1: ::

    view[a, x] = memory[(n-1) + a (R-1) + x] = by_distance[a, (n-1) - a + x]

Each line begins one distance nearer the past than the line above, and that is one *key* per
column: no copy, no index. What is written through the view goes from keys to distances.
"""

import math

import numpy as np


def distance_buffer(scratch, heads, tile):
    """(heads, n, R) in a flat scratch array: n-1 left tails, the table rows, n-1 right tails."""
    shape = (heads, tile.num_queries, tile.num_rows + 2 * (tile.num_queries - 1))
    return scratch[: math.prod(shape)].reshape(shape)


def distance_buffer_size(heads, queries, rows):
    """Numbers that a `distance_buffer` needs at most."""
    return heads * queries * (rows + 2 * queries)


def by_key(by_distance, tile, stop):
    """View of `by_distance` with a column per key, for the keys ``left .. stop - 1``.

    Parameters
    ----------
    by_distance : ndarray, (heads, n, R), C-contiguous
    tile : Tile
    stop : int

    Returns
    -------
    ndarray, (heads, n, stop - left), a view

    Examples
    --------
    >>> from relpos_np.fast.tiles import make_tiles
    >>> (tile,) = make_tiles(3, 3, query_start=0, max_relative_position=2, block=3)
    >>> distances = np.arange(tile.near - 2, tile.far + 3)
    >>> by_key(np.tile(distances, (1, 3, 1)), tile, stop=3)
    array([[[ 0,  1,  2],
            [-1,  0,  1],
            [-2, -1,  0]]])
    """
    heads, queries, _ = by_distance.shape
    head_step, step, item = by_distance.strides
    first = queries - 1 + tile.left + tile.offset - tile.near
    # `as_strided` would do, but it takes longer than some of the sums here.
    return np.ndarray(
        (heads, queries, stop - tile.left), by_distance.dtype, buffer=by_distance,
        offset=first * item, strides=(head_step, step - item, item),
    )


def spread(logits, tile, stop, scratch):
    """Add to each pair the product of its query with its table row, in place.

    Parameters
    ----------
    logits : ndarray, (heads, n, num_rows + keys)
        First the products with the tile's table rows, then those with the keys.
    tile : Tile
    stop : int
        Only keys before this one.
    scratch : ndarray, flat
        `distance_buffer_size` numbers, for `spread` alone.
    """
    stop, rows, last = min(stop, tile.right), tile.num_rows, tile.num_queries - 1
    if not tile.like_previous:
        scratch.fill(0)  # the left tails; nobody writes there until the shape changes
    if stop <= tile.left:
        return
    by_distance = distance_buffer(scratch, logits.shape[0], tile)
    by_distance[:, :, last : last + rows] = logits[:, :, :rows]
    by_distance[:, :, last + rows :] = logits[:, :, rows - 1 : rows]
    region = logits[:, :, rows + tile.left : rows + stop]
    region += by_key(by_distance, tile, stop)


def collect(weights, tile, stop, scratch, has_rows=True):
    """The transpose of `spread`: sum the pairs of each row into the column of its product.

    Parameters
    ----------
    weights : ndarray, (heads, n, num_rows + keys)
        The first num_rows columns are overwritten.
    tile, stop
        As in `spread`.
    scratch : ndarray, flat
        `distance_buffer_size` numbers, for `collect` alone.
    has_rows : bool
        If False there is no table: all sums are 0.
    """
    stop, rows, last = min(stop, tile.right), tile.num_rows, tile.num_queries - 1
    if not has_rows:
        weights[:, :, :rows] = 0
        return
    whole = stop - tile.left == rows + last - 1
    if not (whole and tile.like_previous):
        scratch.fill(0)  # distances without a key; a whole tile leaves those of the next alone
    if stop <= tile.left:
        weights[:, :, :rows] = 0
        return
    by_distance = distance_buffer(scratch, weights.shape[0], tile)
    by_key(by_distance, tile, stop)[...] = weights[:, :, rows + tile.left : rows + stop]
    weights[:, :, : rows - 1] = by_distance[:, :, last : last + rows - 1]
    np.einsum("har->ha", by_distance[:, :, last + rows - 1 :], out=weights[:, :, rows - 1])


def left_tail_sums(heads, tile, scratch):
    """After `collect`: the sum of each query's pairs from ``left`` on that are in its left tail.

    Returns
    -------
    ndarray, (heads, n)
    """
    by_distance = distance_buffer(scratch, heads, tile)
    return np.einsum("har->ha", by_distance[:, :, : tile.num_queries - 1])
