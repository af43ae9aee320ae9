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
        left_tails = collect(by_token, tile, stop, scratch.collect)
        if left_tails is not None:
            grad_rows[:, :1] += np.einsum("har->ha", left_tails)[:, np.newaxis] @ vectors
    product = cut(scratch.product, heads, rows + stop, vectors.shape[2])
    np.matmul(by_token.swapaxes(1, 2), vectors, out=product)
    grad_keys[:, :stop] += product[:, rows:]
    if grad_rows is not None:
        first = tile.near + grad_rows.shape[1] // 2
        grad_rows[:, first : first + rows] += product[:, :rows]
        grad_rows[:, :1] += sum_of(product[:, rows : rows + tile.left])


def leave_right_tail(grads, start, stop):
    """Keys ``start .. stop-1`` cease to carry the last row: their gradients so far are its too."""
    for grad_keys, grad_rows in (
        (grads.key, grads.relative_key_table), (grads.value, grads.relative_value_table)
    ):
        if grad_rows is not None and start < stop:
            grad_rows[:, -1:] += sum_of(grad_keys[:, start:stop])


def sum_of(vectors):
    """Sum of (heads, n, d) over n, (heads, 1, d); a product, since BLAS adds fastest."""
    return np.ones((1, vectors.shape[1]), dtype=vectors.dtype) @ vectors


def sum_like(grad_rows, table):
    """Gradients of each head's rows, (batch, h, 2k+1, d), summed to the shape of the table."""
    return None if table is None else grad_rows.sum(axis=(0, 1) if table.ndim == 2 else 0)
