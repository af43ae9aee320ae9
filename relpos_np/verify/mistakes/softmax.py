"""F. The softmax: its axis, its shift, its sum."""

import numpy as np

from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake


def without_maximum(x):
    exponentials = np.exp(x.scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def with_one_maximum(x):
    exponentials = np.exp(x.scores - x.scores.max())
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def without_keepdims(x):
    exponentials = np.exp(x.scores - x.scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1)[..., np.newaxis, :]


def plus_one(x):
    row_max = np.maximum(x.scores.max(axis=-1, keepdims=True), 0)
    exponentials = np.exp(x.scores - row_max)
    return exponentials / (np.exp(-row_max) + exponentials.sum(axis=-1, keepdims=True))


def log_weights(x):
    shifted = x.scores - x.scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


MISTAKES = (
    Mistake(
        "softmax_query_axis", {"weights": lambda x: x.softmax(x.scores, axis=-2)}, MISTAKE,
        wrote="softmax over i",
        why="The weights of a key add up to 1 over the queries: axis -2 in place of -1.",
    ),
    Mistake(
        "softmax_head_axis", {"weights": lambda x: x.softmax(x.scores, axis=1)}, MISTAKE,
        wrote="softmax over the heads",
        why="axis=1, left from code without a batch or head axis.",
    ),
    Mistake(
        "no_max_subtraction", {"weights": without_maximum}, MISTAKE,
        wrote="exp(scores) / sum exp(scores)",
        why="Right until a score exceeds 709 (88 in float32): then inf / inf is NaN.",
    ),
    Mistake(
        "global_max", {"weights": with_one_maximum}, MISTAKE,
        wrote="exp(scores - scores.max()) / sum",
        why="One maximum for all rows: a row far below it underflows to 0 / 0.",
    ),
    Mistake(
        "keepdims_missing", {"weights": without_keepdims}, MISTAKE,
        wrote="exp(scores) / exp(scores).sum(axis=-1)",
        why="Without keepdims the sums are laid along the keys: row i is divided by the sum of "
            "row j. It runs whenever the lengths are equal.",
    ),
    Mistake(
        "softmax_plus_one", {"weights": plus_one}, MISTAKE,
        wrote="exp(scores) / (1 + sum exp(scores))",
        why="An extra key with score 0 takes a share, so rows add up to less than 1.",
    ),
    Mistake(
        "log_softmax", {"weights": log_weights}, MISTAKE,
        wrote="log softmax(scores)",
        why="log_softmax belongs to a loss; its values are not weights.",
    ),
    Mistake(
        "no_softmax", {"weights": lambda x: x.scores}, MISTAKE,
        wrote="weights = scores",
        why="The softmax is missing.",
    ),
)
