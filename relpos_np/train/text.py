"""Masked characters of real text: the US Constitution and the Declaration of Independence."""

from functools import cache
from importlib.resources import files

import numpy as np

from relpos_np.train.tasks import Batch, everywhere

CHARACTERS = "abcdefghijklmnopqrstuvwxyz ,.;"
MASK = len(CHARACTERS)  # one token more: "something stood here"
VOCABULARY = len(CHARACTERS) + 1
BLOCK, HELD_OUT_EVERY = 600, 6


@cache
def held_out_blocks():
    """Both texts in blocks of 600 characters: those to train on, and every sixth to test on.

    Returns
    -------
    train, test : ndarray of int, (blocks, 600)
    """
    folder = files("relpos_np.data")
    text = " ".join(
        (folder / name).read_text(encoding="ascii").strip()
        for name in ("us_constitution.txt", "us_declaration.txt")
    )
    blocks = encode(text[: len(text) // BLOCK * BLOCK]).reshape(-1, BLOCK)
    held_out = np.arange(len(blocks)) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    return blocks[~held_out], blocks[held_out]


def encode(text):
    """Characters to tokens; one that is not among `CHARACTERS` is a ValueError.

    >>> encode("cab;")
    array([ 2,  0,  1, 29])
    """
    return np.array([CHARACTERS.index(character) for character in text])


def decode(tokens):
    """Tokens to characters, the mask as an underscore.

    >>> decode([2, 0, MASK])
    'ca_'
    """
    return "".join((*CHARACTERS, "_")[token] for token in tokens)


def masked_batch(rng, batch, length, *, test=False):
    """Pieces of text in which a fifth of the characters is hidden; asked: which were they?

    Pieces lie within one block, so that none mixes text that is trained on with held-out text.
    """
    pieces = random_pieces(rng, batch, length, test)
    hidden = rng.random(pieces.shape) < 0.2
    hidden[:, -1] |= ~hidden.any(axis=1)  # a sequence without a question is none
    return Batch(np.where(hidden, MASK, pieces), pieces, hidden)


def next_batch(rng, batch, length, *, test=False):
    """Pieces of text; asked at every position but the last: which character comes next?"""
    pieces = random_pieces(rng, batch, length, test)
    targets = np.roll(pieces, -1, axis=1)
    return Batch(pieces, targets, everywhere(pieces, np.arange(length) < length - 1))


def random_pieces(rng, batch, length, test):
    """(batch, length) tokens, each row from a random place of a random block."""
    blocks = held_out_blocks()[1 if test else 0]
    start = rng.integers(BLOCK - length + 1, size=batch)
    rows = rng.integers(len(blocks), size=batch)
    return blocks[rows[:, np.newaxis], start[:, np.newaxis] + np.arange(length)]
