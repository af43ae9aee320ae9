"""Rung 3, tiled, backward: products that lead out of a tile, and the rows of the tables.

A table row gets the gradients of all pairs that read it, and these are found where the forward
had put the row: in the columns of the virtual tokens; on the keys of the right tail; and for row 0,
that was subtracted everywhere and nowhere added, on the keys of the left tail.
"""

import numpy as np

from relpos_np.fast.bands import collect
from relpos_np.fast.virtual_tokens import cut


def add_product(by_token, vectors, tile, stop, scratch, grad_keys, grad_rows):
    """``[grad_rows ; grad_keys] += [collected | by_key]^T @ vectors``, by one product.

    Parameters
    ----------
    by_token : ndarray, (heads, n, num_rows + stop)
        Of the tile: room for its virtual tokens, which is filled here, then the keys.
    vectors : ndarray, (heads, query_len, d)
    tile : Tile
    stop : int
    scratch : Scratch
    grad_keys : ndarray, (heads, key_len, d)
    grad_rows : ndarray, (heads, 2k+1, d), or None
    """
    heads, rows, vectors = len(by_token), tile.num_rows, vectors[:, tile.queries]
    if grad_rows is not None:
        in_left_tail = collect(by_token, tile, stop, scratch.collect, scratch.ones)
        if in_left_tail is not None:
            grad_rows[:, :1] += in_left_tail[:, np.newaxis] @ vectors
    product = cut(scratch.product, heads, rows + stop, vectors.shape[2])
    np.matmul(by_token.swapaxes(1, 2), vectors, out=product)
    grad_keys[:, :stop] += product[:, rows:]
    if grad_rows is not None:
        first = tile.near + grad_rows.shape[1] // 2
        grad_rows[:, first : first + rows] += product[:, :rows]
        grad_rows[:, 0] += sum_of(product[:, rows : rows + tile.left], scratch.ones)
        grad_rows[:, -1] += sum_of(product[:, rows + tile.right :], scratch.ones)


def sum_of(vectors, ones):
    """Sum of (heads, n, d) over n, (heads, d)."""
    return ones[: vectors.shape[1]] @ vectors


def sum_like(grad_rows, table):
    """Gradients of each head's rows, (batch, h, 2k+1, d), summed to the shape of the table."""
    return None if table is None else grad_rows.sum(axis=(0, 1) if table.ndim == 2 else 0)
