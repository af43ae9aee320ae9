"""What a softmax gives where every key is masked: four habits are in use.

Ours is zeros. An additive minus infinity gives 0/0 = NaN. A finite fill (masked_fill with -1e9,
or the dtype's minimum) gives equal weights to all keys. Adding a finite number to the scores
leaves them as if there were no mask.

Each takes `x` (see formula.py), in which it notes whether any row was hidden at all.
"""

import numpy as np

from relpos_np.softmax import softmax


def zeros(x, scores, axis=-1):
    hidden(x, scores, axis)
    return along(axis, scores)


def nan(x, scores, axis=-1):
    return np.where(hidden(x, scores, axis), scores.dtype.type(np.nan), along(axis, scores))


def uniform(x, scores, axis=-1):
    return along(axis, np.where(hidden(x, scores, axis), scores.dtype.type(0), scores))


def unmasked(x, scores, axis=-1):
    return along(axis, np.where(hidden(x, scores, axis), x.scaled_logits, scores))


def along(axis, scores):
    """The softmax of the core, over another axis."""
    return np.moveaxis(softmax(np.moveaxis(scores, axis, -1)), -1, axis)


def hidden(x, scores, axis):
    """Where a whole row (or whatever `axis` sums over) is minus infinity."""
    rows = np.all(scores == -np.inf, axis=axis, keepdims=True)
    x.met_hidden |= bool(rows.any())
    return rows


SOFTMAXES = {"zeros": zeros, "nan": nan, "uniform": uniform, "unmasked": unmasked}

ABOUT = {
    "nan": "a row that may attend to nothing gives NaN (0/0 after an additive -inf)",
    "uniform": "a row that may attend to nothing averages over all keys (a finite mask fill)",
    "unmasked": "a row that may attend to nothing attends as if there were no mask (a finite "
                "number added to the scores)",
}

# The line that turns their output into ours.
REPAIR = "output = np.where(mask.any(axis=-1, keepdims=True), output, 0)"
