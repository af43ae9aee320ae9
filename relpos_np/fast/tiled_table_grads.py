"""Rung 3, tiled, backward: what belongs to the rows of the tables."""

import numpy as np

from relpos_np.fast.virtual_tokens import cut


def add_product(by_token, vectors, tile, scratch, grad_keys, grad_rows):
    """``[grad_rows ; grad_keys] += by_token^T @ vectors``: one product, added in two places.

    Parameters
    ----------
    by_token : ndarray, (heads, n, num_rows + keys)
        Of the tile: collected for its virtual tokens, then for the keys.
    vectors : ndarray, (heads, query_len, d)
    tile : Tile
    scratch : ndarray, flat
    grad_keys : ndarray, (heads, key_len, d)
    grad_rows : ndarray, (heads, 2k, d)
    """
    heads, _, tokens = by_token.shape
    product = cut(scratch, heads, tokens, vectors.shape[2])
    np.matmul(by_token.swapaxes(1, 2), vectors[:, tile.queries], out=product)
    grad_keys[:, : tokens - tile.num_rows] += product[:, tile.num_rows :]
    first = tile.near + grad_rows.shape[1] // 2 - 1
    grad_rows[:, first : first + tile.num_rows] += product[:, : tile.num_rows]


def leave_right_tail(grads, start, stop):
    """Keys ``start .. stop-1`` cease to carry the last row: their gradients so far are its too."""
    for grad_keys, grad_rows in (
        (grads.key, grads.relative_key_table), (grads.value, grads.relative_value_table)
    ):
        if grad_rows.shape[1] and start < stop:
            grad_rows[:, -1] += np.einsum("hjd->hd", grad_keys[:, start:stop])


def join_rows(grad_rows, total, table):
    """Gradient of a table, from those of rows 1 .. 2k, per head, and the sum over all its rows.

    Row 0 was subtracted from the others, so its own gradient is ``total`` minus theirs.

    Parameters
    ----------
    grad_rows : ndarray, (batch, h, 2k, d)
    total : ndarray, (batch, h, d), or 0
    table : ndarray, (2k+1, d) or (h, 2k+1, d), or None

    Returns
    -------
    ndarray, the shape of `table`, or None
    """
    if table is None:
        return None
    first = total - grad_rows.sum(axis=2)
    gradient = np.concatenate([first[:, :, np.newaxis], grad_rows], axis=2)
    return gradient.sum(axis=(0, 1) if table.ndim == 2 else 0)
