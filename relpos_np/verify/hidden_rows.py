"""What a softmax gives where every key is masked: four habits are in use.

Ours is zeros. An additive minus infinity gives 0/0 = NaN. A finite fill (masked_fill with -1e9,
or the dtype's minimum) gives equal weights to all keys. Adding a finite number to the scores
leaves them as if there were no mask.
"""

import numpy as np

from relpos_np.softmax import softmax


def zeros(x, scores, axis=-1):
    x.met_hidden |= bool(hidden(scores, axis).any())
    return np.moveaxis(softmax(np.moveaxis(scores, axis, -1)), -1, axis)


def nan(x, scores, axis=-1):
    weights = zeros(x, scores, axis)
    return np.where(hidden(scores, axis), scores.dtype.type(np.nan), weights)


def uniform(x, scores, axis=-1):
    return zeros(x, np.where(hidden(scores, axis), scores.dtype.type(0), scores), axis)


def unmasked(x, scores, axis=-1):
    return zeros(x, np.where(hidden(scores, axis), x.scaled_logits, scores), axis)


def hidden(scores, axis):
    """Where a whole row (or whatever `axis` sums over) is minus infinity."""
    return np.all(scores == -np.inf, axis=axis, keepdims=True)


SOFTMAXES = {"zeros": zeros, "nan": nan, "uniform": uniform, "unmasked": unmasked}

ABOUT = {
    "nan": "a row that may attend to nothing gives NaN (0/0 after an additive -inf)",
    "uniform": "a row that may attend to nothing averages over all keys (a finite mask fill)",
    "unmasked": "a row that may attend to nothing attends as if there were no mask (a finite "
                "number added to the scores)",
}

# The line that turns their output into ours.
REPAIR = "output = np.where(mask.any(axis=-1, keepdims=True), output, 0)"
