"""The best accuracy that any model without a sense of order can reach on the copy task."""

import numpy as np

from relpos_np.train.tasks import VOCABULARY


def order_blind_ceiling(rng, length, samples=20000):
    """Accuracy of the best guess from a position's own token and the bag of all the others.

    Parameters
    ----------
    rng : numpy.random.Generator
    length : int
    samples : int, optional
        Sequences drawn.

    Returns
    -------
    float

    Notes
    -----
    A model without positions gives the same answer however the other tokens are shuffled. Under
    shuffling, the token asked for is any of the ``length - 1`` others with equal chance, so the
    best guess is the most frequent of them, and it is right with chance ``count / (length - 1)``.
    The mean of that over random sequences is the ceiling, however the model is made and trained.

    Examples
    --------
    The other one of two tokens is known without knowing where it stands:

    >>> order_blind_ceiling(np.random.default_rng(0), length=2, samples=10)
    1.0
    """
    others = rng.integers(VOCABULARY, size=(samples, length - 1))
    counts = np.stack([(others == token).sum(axis=1) for token in range(VOCABULARY)])
    return float(counts.max(axis=0).mean() / (length - 1))
