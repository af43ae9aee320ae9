"""One cell of the right result with its numbers in the formula: notebooks 1 and 2."""

import numpy as np

from relpos_np.exercises.grid import number


def dot(one, other):
    """A dot product, the ends of its sum written out.

    >>> dot(np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0]))
    '1 * 0.5 + .. + 3 * 2'
    """
    first, *_, last = (f"{number(a)} * {number(b)}" for a, b in zip(one, other, strict=True))
    return f"{first} + .. + {last}"


def away(x, i, j):
    """How far the key is from the query."""
    return int(x.j[0, j] - x.i[i, 0])


def masked(x, b, h, i, j):
    may = np.broadcast_to(x.mask, x.scores.shape)[b, h, i, j]
    return f"{number(x.scaled_logits[b, h, i, j])}, mask is {may}"


def share(x, b, h, i, j):
    row = x.scores[b, h, i]
    return f"exp({number(row[j])} - {number(row.max())}) / the row's sum"


# Each is called with the reference's stages and the place of the cell.
CELLS = {
    "1.1": lambda x, i, j: f"{j} - ({x.query_start} + {i})",
    "1.2": lambda x, i, j: f"clip({away(x, i, j)}, -{x.k}, {x.k})",
    "1.3": lambda x, i, j: f"{np.clip(away(x, i, j), -x.k, x.k)} + {x.k}",
    "1.4": lambda x, i, j: f"clip({j} - ({x.query_start} + {i}), -{x.k}, {x.k}) + {x.k}",
    "1.5": lambda x, i, j, d: f"table[{x.index[i, j]}, {d}]",
    "1.6": lambda x, h, i, j, d: f"tables[{h}, {x.index[i, j]}, {d}]",
    "2.1": lambda x, b, h, i, j: dot(x.query[b, h, i], x.key[b, h, j]),
    "2.2": lambda x, b, h, i, j: dot(x.query[b, h, i], x.relative_key[0, i, j]),
    "2.3": lambda x, b, h, i, j: f"({number(x.content_logits[b, h, i, j])} + "
                                 f"{number(x.relative_logits[b, h, i, j])}) / sqrt({x.head_dim})",
    "2.4": masked,
    "2.5": share,
    "2.6": share,
}
