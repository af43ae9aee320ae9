"""Synthetic tasks: each makes one batch of random sequences, with the answers to be given.

Tokens are 0 .. 15. A batch is drawn from a generator and nothing else, so that the same seed gives
the same sequences to every model.
"""

from typing import NamedTuple

import numpy as np

VOCABULARY = 16
COPY_OFFSET = 3
NUM_PAIRS = 6


class Batch(NamedTuple):
    """Sequences and what is asked about them."""

    tokens: np.ndarray  # (b, length) int
    targets: np.ndarray  # (b, length) int
    scored: np.ndarray  # (b, length) bool, True = the answer at this position counts


def copy_batch(rng, batch, length, offset=COPY_OFFSET):
    """At every position: which token stands `offset` places back?

    >>> for part in copy_batch(np.random.default_rng(0), batch=1, length=6):
    ...     print(part.astype(int))
    [[13 10  8  4  4  0]]
    [[ 0  0  0 13 10  8]]
    [[0 0 0 1 1 1]]
    """
    tokens = rng.integers(VOCABULARY, size=(batch, length))
    targets = np.zeros_like(tokens)
    targets[:, offset:] = tokens[:, :-offset]
    return Batch(tokens, targets, everywhere(tokens, np.arange(length) >= offset))


def order_batch(rng, batch, length):
    """Token 0 and token 1 occur once each. Asked at the 0: is the 1 further on?

    >>> for part in order_batch(np.random.default_rng(2), batch=1, length=6):
    ...     print(part.astype(int))
    [[13  5  0  1  7 13]]
    [[0 0 1 0 0 0]]
    [[0 0 1 0 0 0]]
    """
    tokens = rng.integers(2, VOCABULARY, size=(batch, length))
    first, second = two_places(rng, batch, length)
    rows = np.arange(batch)
    tokens[rows, first], tokens[rows, second] = 0, 1
    targets, scored = np.zeros_like(tokens), np.zeros(tokens.shape, dtype=bool)
    targets[rows, first] = first < second
    scored[rows, first] = True
    return Batch(tokens, targets, scored)


def induction_batch(rng, batch, length):
    """Pairs from a dictionary made anew for each sequence. Asked at a first half seen before:
    which second half followed it?

    Six first and six second halves, all different tokens, so that guessing among the second
    halves that were seen is right one time in six, once all were. Meant for a causal mask: the
    answer is the next token.

    >>> for part in induction_batch(np.random.default_rng(3), batch=1, length=10):
    ...     print(part.astype(int))
    [[12  7 11 14 11 14  9  0  9  0]]
    [[ 7 11 14 11 14  9  0  9  0  2]]
    [[0 0 0 0 1 0 0 0 1 0]]
    """
    in_any_order = rng.permuted(np.tile(np.arange(VOCABULARY), (batch, 1)), axis=1)
    first, second = in_any_order[:, :NUM_PAIRS], in_any_order[:, NUM_PAIRS : 2 * NUM_PAIRS]
    pair = rng.integers(NUM_PAIRS, size=(batch, length // 2 + 1))
    halves = [np.take_along_axis(half, pair, axis=1) for half in (first, second)]
    sequence = np.stack(halves, axis=-1).reshape(batch, -1)
    drawn = pair[:, :, np.newaxis] == np.arange(NUM_PAIRS)
    times_seen = np.take_along_axis(drawn.cumsum(axis=1), pair[:, :, np.newaxis], axis=2)
    scored = np.stack([times_seen[:, :, 0] > 1, np.zeros_like(pair, dtype=bool)], axis=-1)
    return Batch(sequence[:, :length], sequence[:, 1 : length + 1],
                 scored.reshape(batch, -1)[:, :length])


def reversal_batch(rng, batch, length):
    """At every position: which token stands as far from the other end?

    >>> for part in reversal_batch(np.random.default_rng(0), batch=1, length=4):
    ...     print(part.astype(int))
    [[13 10  8  4]]
    [[ 4  8 10 13]]
    [[1 1 1 1]]
    """
    tokens = rng.integers(VOCABULARY, size=(batch, length))
    return Batch(tokens, tokens[:, ::-1].copy(), everywhere(tokens, np.full(length, True)))


def parity_batch(rng, batch, length):
    """At every position: is its own index odd?

    >>> parity_batch(np.random.default_rng(0), batch=1, length=4).targets
    array([[0, 1, 0, 1]])
    """
    tokens = rng.integers(VOCABULARY, size=(batch, length))
    targets = np.broadcast_to(np.arange(length) % 2, tokens.shape).copy()
    return Batch(tokens, targets, everywhere(tokens, np.full(length, True)))


def everywhere(tokens, positions):
    """The same scored positions in every sequence of the batch."""
    return np.broadcast_to(positions, tokens.shape).copy()


def two_places(rng, batch, length):
    """Two different positions per sequence, every ordered pair equally likely."""
    first = rng.integers(length, size=batch)
    second = (first + rng.integers(1, length, size=batch)) % length
    return first, second
