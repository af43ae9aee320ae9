"""Tiled, part 3: table rows as additional keys, and keys of the right tail.

The product of a query with a table row is a logit like any other. Put the rows that a tile needs
in front of the keys, as *virtual tokens*, and one matrix product gives both: ::

    [q . w_near, .., q . w_far | q . k_0, .., q . k_last] = q @ [rows ; keys]^T

Likewise for values: with the weights collected per row in the columns of the virtual tokens,
``[collected | weights] @ [rows ; values]`` is both halves of equation (3). In the backward the
gradients of rows and keys come out of one product. No product is added; each is 2k / L longer.
"""

import math
from typing import NamedTuple

import numpy as np

from relpos_np.fast.bands import spread


class Tokens(NamedTuple):
    """Keys or values of some heads, with room for virtual tokens in front."""

    plain: np.ndarray  # (heads, key_len, d)
    rows: np.ndarray  # (heads, 2k, d)   table rows 1 .. 2k minus row 0
    has_rows: bool  # is there a table at all?
    room: int  # most virtual tokens of a tile
    array: np.ndarray  # (heads, room + key_len, d) or (heads, d + 2, room + key_len)


def tokens_in_lines(plain, rows, has_rows, room):
    """A line per token, (heads, room + key_len, d): what weights are multiplied by.

    Keys in the right tail carry the last table row: before the first tile that is all of them.
    """
    heads, key_len, head_dim = plain.shape
    lines = np.empty((heads, room + key_len, head_dim), dtype=plain.dtype)
    lines[:, room:] = plain
    if rows.shape[1]:
        lines[:, room:] += rows[:, -1:]
    return Tokens(plain, rows, has_rows, room, lines)


def lines_for(tile, tokens):
    """Make `tokens_in_lines` right for the next tile: its rows in front, more keys plain."""
    if not tile.like_previous:
        tokens.array[:, tokens.room - tile.num_rows : tokens.room] = rows_of(tile, tokens)
    keys = tokens.array[:, tokens.room :]
    plain = slice(tile.previous_right, tile.right)
    keys[:, plain] = tokens.plain[:, plain]


def tokens_in_columns(plain, rows, has_rows, room):
    """A column per token, (heads, d + 2, room + key_len): what queries are multiplied by.

    Columns, since BLAS is slower on lines here. They have two components more, and so have the
    vectors of `with_two_components`, whose additions then ride along in the product: ::

        1 for a key                       times the number to add to all logits of the query
        1 for a key in the right tail     times q_i . w_k, the last table row
    """
    heads, key_len, head_dim = plain.shape
    columns = np.empty((heads, head_dim + 2, room + key_len), dtype=plain.dtype)
    for start in range(0, key_len, 128):  # in parts that fit the first cache: twice as fast
        part = plain[:, start : start + 128].swapaxes(1, 2)
        columns[:, :head_dim, room + start : room + start + part.shape[2]] = part
    columns[:, head_dim:, :room] = 0
    columns[:, head_dim:, room:] = 1
    return Tokens(plain, rows, has_rows, room, columns)


def columns_for(tile, tokens):
    """Make `tokens_in_columns` right for the next tile, as `lines_for` does."""
    if not tile.like_previous:
        virtual = slice(tokens.room - tile.num_rows, tokens.room)
        tokens.array[:, :-2, virtual] = rows_of(tile, tokens).swapaxes(1, 2)
    tokens.array[:, -1, tokens.room :][:, tile.previous_right : tile.right] = 0


def with_two_components(vectors, to_add, rows, scale=1.0):
    """Vectors to multiply with `tokens_in_columns`.

    Parameters
    ----------
    vectors : ndarray, (heads, n, d)
    to_add : ndarray, (heads, n), or 0
        Added to the product with every key, and to none with a table row.
    rows : ndarray, (heads, 2k, d)
    scale : float
        The vectors are multiplied by it.

    Returns
    -------
    ndarray, (heads, n, d + 2)
    """
    heads, length, head_dim = vectors.shape
    longer = np.empty((heads, length, head_dim + 2), dtype=vectors.dtype)
    np.multiply(vectors, scale, out=longer[:, :, :head_dim])
    longer[:, :, head_dim] = to_add
    longer[:, :, head_dim + 1] = 0
    if rows.shape[1]:
        longer[:, :, head_dim + 1 :] = longer[:, :, :head_dim] @ rows[:, -1:].swapaxes(1, 2)
    return longer


def rows_of(tile, tokens):
    """The table rows that a tile needs, (heads, num_rows, d)."""
    first = tile.near + tokens.rows.shape[1] // 2 - 1
    return tokens.rows[:, first : first + tile.num_rows]


def of_tile(tokens, tile, stop):
    """Slice of the tile's virtual tokens and the keys before `stop`."""
    return slice(tokens.room - tile.num_rows, tokens.room + stop)


def products(vectors, tokens, tile, stop, out, scratch):
    """``q_i . (k_j + a_ij)`` of a tile, for the keys before `stop`.

    Parameters
    ----------
    vectors : ndarray, (heads, query_len, d + 2)
    tokens : Tokens
        In columns.
    tile : Tile
    stop : int
    out, scratch : ndarray, flat
        Memory of the result, and of `spread`.

    Returns
    -------
    ndarray, (heads, n, num_rows + stop), C-contiguous
        In front the products with the virtual tokens.
    """
    columns = tokens.array[:, :, of_tile(tokens, tile, stop)]
    out = cut(out, len(vectors), tile.num_queries, columns.shape[2])
    # With no key of the right tail only zeros meet the last component, q_i . w_k: leave it out,
    # lest a NaN in a row that no query of the tile sees come in as 0 times NaN.
    used = vectors.shape[2] - (stop <= tile.right)
    np.matmul(vectors[:, tile.queries, :used], columns[:, :used], out=out)
    if tokens.has_rows:
        spread(out, tile, stop, scratch)
    return out


def cut(scratch, *shape):
    """The beginning of a flat array as an array of a shape, contiguous: one loop for all of it."""
    return scratch[: math.prod(shape)].reshape(shape)
