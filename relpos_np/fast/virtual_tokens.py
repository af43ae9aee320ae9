"""Tiled, part 3: table rows as additional keys, and keys that carry the last row.

The product of a query with a table row is a logit like any other. Put the rows that a tile needs
in front of the keys, as *virtual tokens*, and one matrix product gives both: ::

    [q . w_near, .., q . w_far | q . k_0, .., q . k_last] = q @ [rows ; keys]^T

Likewise for values: with the weights collected per row in the columns of the virtual tokens,
``[collected | weights] @ [rows ; values]`` is both halves of equation (3). In the backward the
gradients of rows and keys come out of one product. No product is added; each is 2k / L longer.
"""

from typing import NamedTuple

import numpy as np

from relpos_np.fast.bands import spread


class Tokens(NamedTuple):
    """Keys or values of some heads, with room for virtual tokens in front."""

    plain: np.ndarray  # (heads, key_len, d)
    rows: np.ndarray  # (heads, 2k, d)                  table rows 1 .. 2k minus row 0
    has_rows: bool  # is there a table at all?
    vectors: np.ndarray  # (heads, room + key_len, d)   virtual tokens, then keys
    columns: np.ndarray | None  # (heads, d + 1, room + key_len)  the same memory


def tokens_in_lines(plain, rows, has_rows, room):
    """A line per token: what weights are multiplied by."""
    heads, key_len, head_dim = plain.shape
    vectors = np.empty((heads, room + key_len, head_dim), dtype=plain.dtype)
    return with_last_row(Tokens(plain, rows, has_rows, vectors, None))


def tokens_in_columns(plain, rows, has_rows, room):
    """A column per token: what queries are multiplied by. (BLAS is slower on lines here.)

    There is one component more: 1 for a key, 0 for a virtual token. A query whose own last
    component is c gets c added to its product with every key, and no product is the slower for it.
    """
    heads, key_len, head_dim = plain.shape
    columns = np.empty((heads, head_dim + 1, room + key_len), dtype=plain.dtype)
    columns[:, head_dim, :room] = 0
    columns[:, head_dim, room:] = 1
    vectors = columns[:, :head_dim].swapaxes(1, 2)
    return with_last_row(Tokens(plain, rows, has_rows, vectors, columns))


def with_last_row(tokens):
    """Before the first tile every key carries the last row, as in the right tail."""
    keys = tokens.vectors[:, tokens.vectors.shape[1] - tokens.plain.shape[1] :]
    keys[...] = tokens.plain
    if tokens.rows.shape[1]:
        keys += tokens.rows[:, -1:]
    return tokens


def move_to(tile, *several):
    """Make tokens right for `tile`: its rows in front, the keys left of its right tail plain."""
    for tokens in several:
        room = tokens.vectors.shape[1] - tokens.plain.shape[1]
        if not tile.like_previous:
            first = tile.near + tokens.rows.shape[1] // 2 - 1
            rows = tokens.rows[:, first : first + tile.num_rows]
            tokens.vectors[:, room - tile.num_rows : room] = rows
        now_plain = tokens.plain[:, tile.previous_right : tile.right]
        tokens.vectors[:, room + tile.previous_right : room + tile.right] = now_plain


def of_tile(tokens, tile, stop):
    """Slice of the tile's virtual tokens and the keys before `stop`."""
    room = tokens.vectors.shape[1] - tokens.plain.shape[1]
    return slice(room - tile.num_rows, room + stop)


def products(vectors, tokens, tile, stop, out, scratch):
    """``q_i . (k_j + a_ij)`` of a tile, for the keys before `stop`.

    Parameters
    ----------
    vectors : ndarray, (heads, query_len, d) or with the additional component
    tokens : Tokens
        In columns.
    tile : Tile
    stop : int
    out : ndarray, flat
        Memory of the result.
    scratch : ndarray, flat
        For `spread`.

    Returns
    -------
    ndarray, (heads, n, num_rows + stop), C-contiguous
        In front the products with the virtual tokens.
    """
    columns = tokens.columns[:, : vectors.shape[2], of_tile(tokens, tile, stop)]
    out = cut(out, len(vectors), tile.num_queries, columns.shape[2])
    np.matmul(vectors[:, tile.queries], columns, out=out)
    if tokens.has_rows:
        spread(out, tile, stop, scratch)
    return out


def cut(scratch, *shape):
    """The beginning of a flat array as an array of a shape, contiguous: one loop for all of it."""
    return scratch[: int(np.prod(shape))].reshape(shape)
