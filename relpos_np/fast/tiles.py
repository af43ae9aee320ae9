"""Tiled, part 1: which keys of a block of queries need their distance, and which do not.

A tile is a block of queries against all keys. The tables know only 2k+1 distances, so for the
queries ``start .. stop-1`` the keys fall into three parts: ::

    keys   0 ................... left ......................... right ................... key_len
           left tail of them all      distance -k+1 or more for      right tail of them all
                                      some, below k for some
    add    nothing                    by distance                    the last table row

* **The left tail is free.** Subtract row 0, for distance -k, from all rows of both tables. The
  logits of query i change by the constant q_i . w^K_-k, which softmax does not see; the output by
  w^V_-k, which is added once at the end, since the weights sum to 1. Row 0 is now zero.
* **The right tail is on the keys.** ``q_i . k_j + q_i . w_k = q_i . (k_j + w_k)``: where all
  queries of the tile are in the right tail, the key itself can carry the last row.
* **In between**, some n + 2k keys for n queries whatever the length, see `bands`.
"""

from typing import NamedTuple


class Tile(NamedTuple):
    """A block of queries, and where its keys lie."""

    start: int  # first query
    stop: int  # one past the last query
    offset: int  # distance from the first query to key 0
    near: int  # the distances of pairs that read rows 1 .. 2k: smallest,
    far: int  # and largest; beyond it the rows repeat
    left: int  # first key that is not in the left tail of all queries
    right: int  # first key that is in the right tail of all queries
    shape: tuple  # all that `bands` depends on: (n, near, far, left + offset), often the same
    num_rows: int  # table rows that the tile needs, those of the distances near .. far
    previous_right: int  # `right` of the tile before, 0 for the first
    like_previous: bool  # has the tile before the same shape?

    @property
    def queries(self):
        """The queries as a slice."""
        return slice(self.start, self.stop)

    @property
    def num_queries(self):
        """How many queries, n."""
        return self.stop - self.start


def make_tiles(query_len, key_len, query_start, max_relative_position, block):
    """Cut the queries into blocks.

    Parameters
    ----------
    query_len, key_len, query_start : int
    max_relative_position : int
        The paper's k; 0 means that no distance is told apart: all keys are in the left tail.
    block : int
        Queries in a tile; the last may have fewer.

    Returns
    -------
    list of Tile

    Examples
    --------
    k = 2, four queries at a time: 4 + 2k - 2 keys need their distance.

    >>> tile = make_tiles(12, 12, 0, 2, block=4)[1]
    >>> (tile.start, tile.stop), (tile.left, tile.right), (tile.near, tile.far)
    ((4, 8), (3, 9), (-1, 2))
    """
    k, tiles, previous_right, previous = max_relative_position, [], 0, None
    for start in range(0, query_len, block):
        stop = min(start + block, query_len)
        first, last = query_start + start, query_start + stop - 1
        left = min(max(first - k + 1, 0), key_len) if k else key_len
        right = min(max(last + k, left), key_len)
        # Of a table wider than the sequence only the distances that occur.
        near, far = max(1 - k, -last), min(k, key_len - 1 - first)
        shape = stop - start, near, far, left - first
        tiles.append(Tile(
            start=start, stop=stop, offset=-first, near=near, far=far, left=left, right=right,
            shape=shape, num_rows=max(far - near + 1, 0),
            previous_right=previous_right, like_previous=shape == previous,
        ))
        previous_right, previous = right, shape
    return tiles
