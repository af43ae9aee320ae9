"""Mean cross entropy, in nats, over the positions that count, and its backward."""

from typing import NamedTuple

import numpy as np


class CrossEntropyCache(NamedTuple):
    """The intermediates in the order in which they are made."""

    targets: np.ndarray  # (b, length) int
    scored: np.ndarray  # (b, length) bool
    log_probabilities: np.ndarray  # (b, length, classes)
    loss: np.ndarray  # ()


def cross_entropy_forward(logits, targets, scored):
    """How surprised the model is by the right classes: mean of ``-log p(target)``.

    Parameters
    ----------
    logits : ndarray, (batch, length, classes)
    targets : ndarray of int, (batch, length)
    scored : ndarray of bool, (batch, length)
        True = the position counts.

    Returns
    -------
    loss : ndarray, ()
    cache : CrossEntropyCache

    Raises
    ------
    ValueError
        If no position counts.

    Examples
    --------
    The second position does not count, the first is a fair coin: log 2.

    >>> logits, counts = np.array([[[4.0, 4.0], [0.0, 9.0]]]), np.array([[True, False]])
    >>> float(cross_entropy_forward(logits, np.array([[1, 0]]), counts)[0].round(4))
    0.6931
    """
    if not scored.any():
        raise ValueError("no position is scored, so there is no mean: mark at least one True")
    # Shifting all logits of a position changes nothing; the largest at 0, no exponential overflows.
    shifted = logits - logits.real.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    loss = -target_entries(log_probabilities, targets)[scored].mean()
    return loss, CrossEntropyCache(
        targets=targets, scored=scored, log_probabilities=log_probabilities, loss=loss
    )


def cross_entropy_backward(cache, grad_loss=1.0):
    """Gradient of the logits: probabilities minus one-hot targets, over the number that count.

    Examples
    --------
    >>> logits, counts = np.array([[[4.0, 4.0], [0.0, 9.0]]]), np.array([[True, False]])
    >>> cross_entropy_backward(cross_entropy_forward(logits, np.array([[1, 0]]), counts)[1])
    array([[[ 0.5, -0.5],
            [ 0. ,  0. ]]])
    """
    probabilities = np.exp(cache.log_probabilities)
    one_hot = cache.targets[..., np.newaxis] == np.arange(probabilities.shape[-1])
    num_scored = int(np.count_nonzero(cache.scored))
    grad_logits = (probabilities - one_hot.astype(probabilities.dtype)) * (grad_loss / num_scored)
    return np.where(cache.scored[..., np.newaxis], grad_logits, 0)


def target_entries(array, targets):
    """``array[b, i, targets[b, i]]`` for all b and i."""
    return np.take_along_axis(array, targets[..., np.newaxis], axis=-1)[..., 0]
