"""The paper's sums, written as a double loop over queries i and keys j: the specification.

Plain Python and any number type: floats, complex numbers, ``decimal.Decimal``. Nothing here
imports another room of the package. This file even clips by itself, so that a sign or an index
that is wrong elsewhere cannot be wrong here in the same way.

One head, no batch: `query` is query_len rows of head_dim numbers, and so on.
"""

import cmath
import math
from decimal import Decimal
from numbers import Real
from typing import NamedTuple


class NaiveStages(NamedTuple):
    """What the double loop computes, as nested lists."""

    scores: list  # (query_len, key_len)        e_ij, minus infinity where masked
    weights: list  # (query_len, key_len)       alpha_ij
    output: list  # (query_len, value head_dim) z_i


def naive_attention(
    query, key, value, relative_key_table=None, relative_value_table=None,
    mask=None, query_start=None,
):
    """Relation-aware self-attention of one head, sum by sum.

    Parameters
    ----------
    query : sequence, (query_len, head_dim)
    key : sequence, (key_len, head_dim)
    value : sequence, (key_len, value head_dim)
    relative_key_table, relative_value_table : sequence, (2k+1, head_dim), optional
        The paper's ``w^K`` and ``w^V``; a table left out leaves out its term.
    mask : sequence of bool, (query_len, key_len), optional
        True = may attend.
    query_start : int, optional
        Position of the first query among the keys; must be given when the lengths differ.

    Returns
    -------
    NaiveStages

    Notes
    -----
    Shaw et al. 2018, equations (3) and (4).

    Examples
    --------
    Two equal scores, so each output is the mean of the values plus a row or two of the table:

    >>> table = [[-10.0], [0.0], [10.0]]
    >>> naive_attention([[0.0], [0.0]], [[0.0], [0.0]], [[1.0], [3.0]], None, table).output
    [[7.0], [-3.0]]
    """
    query_start = first_position(query, key, query_start)
    scores, weights, output = [], [], []
    for i in range(len(query)):
        scores.append([])
        for j in range(len(key)):
            # equation (4): e_ij = q_i . (k_j + a^K_ij) / sqrt(head_dim)
            relative_key = pair_row(relative_key_table, j - (query_start + i))
            e_ij = dot(query[i], add(key[j], relative_key)) / square_root(len(query[i]), query[i])
            scores[i].append(e_ij if mask is None or mask[i][j] else type(e_ij)("-inf"))

        weights.append(_softmax(scores[i]))

        # equation (3): z_i = sum_j alpha_ij (v_j + a^V_ij)
        z_i = [0] * _width(value)
        for j in range(len(key)):
            relative_value = pair_row(relative_value_table, j - (query_start + i))
            z_i = add(z_i, times(weights[i][j], add(value[j], relative_value)))
        output.append(z_i)
    return NaiveStages(scores, weights, output)


def first_position(query, key, query_start):
    if query_start is None and len(query) != len(key):
        raise ValueError(f"{len(query)} queries and {len(key)} keys: query_start must be given")
    return query_start or 0


def table_row(table, relative_position):
    """Table row of a pair: clip(j - i, -k, k) + k, where k is read off the 2k+1 rows."""
    k = len(table) // 2
    return max(-k, min(k, relative_position)) + k


def pair_row(table, relative_position):
    return None if table is None else table[table_row(table, relative_position)]


def dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def add(left, right):
    return left if right is None else [a + b for a, b in zip(left, right, strict=True)]


def times(factor, vector):
    return [factor * number for number in vector]


def _width(rows):
    """Columns of `rows`; an array knows them even when it has no rows."""
    return rows.shape[1] if hasattr(rows, "shape") else len(rows[0]) if rows else 0


def _softmax(scores):
    row_max = max((e.real for e in scores), default=0)
    if row_max == -math.inf:  # every key is masked
        return [0 * _exp(e) for e in scores]
    exponentials = [_exp(e - row_max) for e in scores]
    return [x / sum(exponentials) for x in exponentials]


def _exp(number):
    if isinstance(number, Decimal):
        return number.exp()
    return math.exp(number) if isinstance(number, Real) else cmath.exp(number)


def square_root(whole_number, like):
    """Square root in the arithmetic of the numbers in `like`."""
    is_decimal = isinstance(like[0], Decimal)
    return Decimal(whole_number).sqrt() if is_decimal else math.sqrt(whole_number)
