"""Learned absolute encoding: a trained vector per position, added to the input."""

from typing import NamedTuple

import numpy as np

from relpos_np.validate import same_precision, whole_number


class LearnedAbsoluteCache(NamedTuple):
    """What the backward needs to know."""

    position_table: np.ndarray  # (max_length, model_dim)
    rows: slice  # the positions that were read
    encoded: np.ndarray  # (b, length, model_dim)


class LearnedAbsoluteGrads(NamedTuple):
    """Gradients by the names of the arguments."""

    x: np.ndarray
    position_table: np.ndarray


def learned_absolute_forward(x, position_table, *, query_start=0):
    """The input with the row of its position added: ``x_i + p_(query_start + i)``.

    Parameters
    ----------
    x : ndarray, (batch, length, model_dim)
    position_table : ndarray, (max_length, model_dim)
    query_start : int
        Position of the first row: what a cache already holds.

    Returns
    -------
    encoded : ndarray, (batch, length, model_dim)
    cache : LearnedAbsoluteCache

    Raises
    ------
    ValueError
        If a position has no row. There is no rule to make one up: this is why the encoding
        cannot go beyond its training length.

    Notes
    -----
    Gehring et al. 2017, section 3.1; Vaswani et al. 2017, section 3.5, as the alternative.

    Examples
    --------
    >>> table = np.array([[10.0], [20.0], [30.0]])
    >>> learned_absolute_forward(np.ones((1, 2, 1)), table, query_start=1)[0]
    array([[[21.],
            [31.]]])
    """
    same_precision({"x": x, "position_table": position_table})
    query_start = whole_number("query_start", query_start, minimum=0)
    if x.ndim != 3 or position_table.shape[1:] != x.shape[2:]:
        raise ValueError(
            f"x has shape {x.shape}, position_table {position_table.shape}: they must be (batch, "
            f"length, model_dim) and (max_length, model_dim)"
        )
    rows = slice(query_start, query_start + x.shape[1])
    if rows.stop > len(position_table):
        raise ValueError(
            f"positions {rows.start} .. {rows.stop - 1} were asked of a table for 0 .. "
            f"{len(position_table) - 1}: a learned absolute encoding has no vector beyond its table"
        )
    encoded = x + position_table[rows]
    return encoded, LearnedAbsoluteCache(position_table, rows, encoded)


def learned_absolute_backward(grad_encoded, cache):
    """Gradients of x and of the table: each row that was read gets the sum over the batch."""
    grad_table = np.zeros_like(cache.position_table)
    # encoded = x + position_table[rows]; every position reads its own row, so no two collide
    grad_table[cache.rows] = grad_encoded.sum(axis=0)
    return LearnedAbsoluteGrads(x=grad_encoded, position_table=grad_table)
