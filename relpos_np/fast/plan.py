"""Tiled, part 7: who computes what, decided before the first product."""

from typing import NamedTuple

import numpy as np

from relpos_np.fast.exponential import Exponential, choose_exponential
from relpos_np.fast.threads import num_threads
from relpos_np.fast.tiles import Tile, make_tiles
from relpos_np.fast.visible import Visible, visible_keys
from relpos_np.fast.window import table_rows
from relpos_np.positions import first_query_position

# Fewer queries make the products slow, more make the region of `bands` wide. Found by trial.
QUERIES_PER_TILE = 128
# Logits of a tile, of all heads taken together; two such arrays fit the cache of a core.
LOGITS_PER_TILE = 2**17


class Plan(NamedTuple):
    """What forward and backward agree on."""

    tiles: list[Tile]
    jobs: list[tuple]  # (batch entry, slice of heads): what one thread computes in one go
    room: int  # most virtual tokens of a tile
    key_rows: np.ndarray  # (h, 2k, d)                     rows 1 .. 2k minus row 0
    value_rows: np.ndarray  # (h, 2k, value head_dim)
    first_value_row: np.ndarray  # (h, 1, value head_dim)  row 0
    has_rows: tuple  # is there a key table, a value table?
    mask: np.ndarray | None  # (b or 1, h or 1, i or 1, j or 1)
    visible: list[Visible] | None  # per tile, if all jobs have the same mask


class Heads(NamedTuple):
    """The inputs of a job: some heads of one batch entry, (heads, length, d)."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    key_rows: np.ndarray
    value_rows: np.ndarray
    first_value_row: np.ndarray
    mask: np.ndarray | None  # (heads or 1, i or 1, j or 1)
    tiles: list[tuple]  # (Tile, Visible)
    exponential: Exponential


def make_plan(query, key, value, relative_key_table, relative_value_table, mask, query_start):
    """The plan of a call with these arguments."""
    batch, num_heads, query_len, _ = query.shape
    key_len = key.shape[2]
    num_rows = table_rows(relative_key_table, relative_value_table)
    key_rows, _ = rows_beyond_first(relative_key_table, num_rows, query)
    value_rows, first_value_row = rows_beyond_first(relative_value_table, num_rows, value)
    start = first_query_position(query_len, key_len, query_start)
    tiles = make_tiles(query_len, key_len, start, num_rows // 2, QUERIES_PER_TILE)
    group = heads_per_job(batch, num_heads, min(query_len, QUERIES_PER_TILE), key_len)
    groups = [slice(first, min(first + group, num_heads)) for first in range(0, num_heads, group)]
    visible = None
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    if mask is None or mask.shape[:2] == (1, 1):
        visible = [visible_keys(mask if mask is None else mask[0], t, key_len) for t in tiles]
    return Plan(
        tiles=tiles, jobs=[(entry, heads) for entry in range(batch) for heads in groups if tiles],
        room=max((tile.num_rows for tile in tiles), default=0),
        key_rows=key_rows, value_rows=value_rows, first_value_row=first_value_row,
        has_rows=(relative_key_table is not None, relative_value_table is not None),
        mask=mask, visible=visible,
    )


def rows_beyond_first(table, num_rows, vectors):
    """Rows 1 .. 2k minus row 0, (h, 2k, d), and row 0, (h, 1, d); no table is one of zeros."""
    _, num_heads, _, head_dim = vectors.shape
    if table is None:
        table = np.zeros((num_rows, head_dim), dtype=vectors.dtype)
    table = np.broadcast_to(table, (num_heads, num_rows, head_dim))
    return table[:, 1:] - table[:, :1], table[:, :1]


def heads_per_job(batch, num_heads, queries, key_len):
    """Several heads at a time where sequences are short, but work for every thread."""
    by_size = LOGITS_PER_TILE // max(queries * key_len, 1)
    by_threads = batch * num_heads // num_threads()
    return max(min(by_size, by_threads, num_heads), 1)


def heads_of(plan, job, query, key, value):
    """The inputs of a job."""
    entry, heads = job
    mask, visible = plan.mask, plan.visible
    if mask is not None:
        mask = mask[entry if mask.shape[0] > 1 else 0]
        mask = mask[heads] if mask.shape[0] > 1 else mask
    if visible is None:
        visible = [visible_keys(mask, tile, key.shape[2]) for tile in plan.tiles]
    return Heads(
        query=query[job], key=key[job], value=value[job],
        key_rows=plan.key_rows[heads], value_rows=plan.value_rows[heads],
        first_value_row=plan.first_value_row[heads],
        mask=mask, tiles=list(zip(plan.tiles, visible, strict=True)),
        exponential=choose_exponential(query[job], key[job], plan.key_rows[heads]),
    )
