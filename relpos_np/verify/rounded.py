"""Arrays that carry a bound of their rounding error, in units of the unit roundoff u.

First-order running error analysis: every operation passes on the errors of what it reads, by
absolute values, and adds its own. A sum of n terms adds sqrt(n) + 1 rather than n, because
roundings are as often up as down (Higham and Mary 2019).
"""

import math
from typing import NamedTuple

import numpy as np

from relpos_np.softmax import softmax as exact_softmax


class Rounded(NamedTuple):
    """A value, and how many u it may be off, elementwise."""

    value: np.ndarray
    error: np.ndarray


def exactly(array):
    """An input: no error yet."""
    return Rounded(array, np.zeros(array.shape))


def contract(letters, left, right):
    """``einsum(letters, left, right)``.

    Examples
    --------
    >>> three = exactly(np.array([3.0, -3.0]))
    >>> number = contract("i,i->", three, three)
    >>> float(number.value), round(float(number.error), 2)
    (18.0, 43.46)
    """
    magnitudes = np.einsum(letters, abs(left.value), abs(right.value))
    inherited = (np.einsum(letters, abs(left.value), right.error)
                 + np.einsum(letters, left.error, abs(right.value)))
    own = math.sqrt(number_of_terms(letters, left.value, right.value)) + 1
    return Rounded(np.einsum(letters, left.value, right.value), inherited + own * magnitudes)


def number_of_terms(letters, *operands):
    """How many products each element of an einsum sums."""
    inputs, output = letters.split("->")
    sizes = {
        letter: size for part, operand in zip(inputs.split(","), operands, strict=True)
        for letter, size in zip(part, operand.shape, strict=True)
    }
    return math.prod(size for letter, size in sizes.items() if letter not in output)


def plus(left, right):
    """``left + right``."""
    value = left.value + right.value
    return Rounded(value, left.error + right.error + abs(value))


def minus(left, right):
    """``left - right``."""
    return plus(left, Rounded(-right.value, right.error))


def times(array, factor):
    """``array * factor``, where the factor (1/sqrt(head_dim), say) is rounded too."""
    return Rounded(array.value * factor, (array.error + 2 * abs(array.value)) * abs(factor))


def masked_softmax(logits, mask):
    """Softmax over the last axis; an error e of a logit is a relative error e of its weight."""
    weights = exact_softmax(logits.value, mask)
    largest = np.where(weights > 0, logits.value, -np.inf).max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shift = np.where(weights > 0, abs(logits.value - largest), 0)
    of_sum = (weights * (logits.error + shift)).sum(axis=-1, keepdims=True)
    own = math.sqrt(weights.shape[-1]) + 4
    return Rounded(weights, weights * (logits.error + shift + of_sum + own))


def per_pair(rows, index):
    """Table rows fetched by pair: (h, r, d) to (h, i, j, d)."""
    return Rounded(rows.value[:, index], rows.error[:, index])


def per_row(pairs, index, num_rows):
    """Pairs summed by table row: (b, h, i, j, d) to (h, r, d), batch included."""
    shape = (pairs.value.shape[1], num_rows, pairs.value.shape[-1])
    sums = {}
    for name, array in {"value": pairs.value, "error": pairs.error,
                        "magnitude": abs(pairs.value)}.items():
        sums[name] = np.zeros(shape)
        np.add.at(sums[name], (slice(None), index), array.sum(axis=0))
    count = len(pairs.value) * np.bincount(index.ravel(), minlength=num_rows)
    own = np.sqrt(count)[:, np.newaxis] + 1
    return Rounded(sums["value"], sums["error"] + own * sums["magnitude"])


def over_heads(rows):
    """A table that the heads share: (h, r, d) to (r, d)."""
    own = math.sqrt(len(rows.value)) * abs(rows.value).sum(axis=0)
    return Rounded(rows.value.sum(axis=0), rows.error.sum(axis=0) + own)
