"""Read an implementation from outside: which row for which pair, which scale, which axis.

Small structured calls, no catalogue. One table row lit at a time shows which pairs read it; a
huge logit makes the weights one-hot, and the output is then the value row of one pair; logs of
ratios of weights are differences of scores.
"""

from typing import NamedTuple

import numpy as np

from relpos_np.verify.calling import callable_as
from relpos_np.verify.probe_text import facts_of, text_of
from relpos_np.verify.questions import LENGTH, WIDTH, Asker, K
from relpos_np.verify.time_limit import known_time_limit

LIT = 2.0  # scaled score of a lit row or key
HUGE = 60.0  # scaled score that leaves no weight to the others


class Probe(NamedTuple):
    """What was read; None (or an empty string) where nothing could be."""

    key_index: np.ndarray | None  # (i, j): row of the key table, -1 where it cannot be told
    value_index: np.ndarray | None
    right_index: np.ndarray
    cross_key_index: np.ndarray | None  # 3 queries at the end of 7 keys
    right_cross_index: np.ndarray
    content_scale: float | None  # of q.k, relative to 1/sqrt(head_dim)
    relative_scale: float | None  # of q.aK, likewise
    value_weight: float | None  # of the value term, relative to the weights' sum
    row_sum: float | None  # of the weights of a query
    sums_to_one_over: str  # "the keys" if all is well
    masked_weight: float | None  # what hidden keys get
    kept_sum: float | None  # what the others get
    hidden_row: str  # what a row gives that may attend to nothing
    problems: tuple

    def facts(self):
        """Only what is not as it should be, as lines."""
        return facts_of(self)

    def __str__(self):
        return text_of(self)


def probe(candidate, *, dtype="float64", framework=None, time_limit=None):
    """Read positions, scales, axis and mask behaviour out of a candidate.

    Parameters
    ----------
    candidate, dtype, framework, time_limit
        As for `verify`.

    Returns
    -------
    Probe
        `print` it: what was read stands beside what is right.

    Examples
    --------
    >>> from relpos_np import attention_forward
    >>> probe(attention_forward).key_index[2]
    array([0, 1, 2, 3, 4, 4, 4])
    """
    time_limit = known_time_limit(time_limit, framework)
    candidate, _ = callable_as(candidate, framework=framework, dtype=dtype, time_limit=time_limit)
    asker = Asker(candidate, np.dtype(dtype), time_limit, problems=[])
    key_index, relative_scale = read_key_index(asker, LENGTH)
    cross_key_index, _ = read_key_index(asker, 3)
    row_sum = scalar(asker.ask(value=asker.first_column("value")))
    return Probe(
        key_index=key_index, value_index=read_value_index(asker),
        right_index=right_index(LENGTH), cross_key_index=cross_key_index,
        right_cross_index=right_index(3), content_scale=read_content_scale(asker),
        relative_scale=relative_scale,
        value_weight=scalar(asker.ask(value_rows=asker.first_column("rows"))),
        row_sum=row_sum, sums_to_one_over=read_axis(asker), **read_mask(asker),
        problems=tuple(dict.fromkeys(asker.problems)),
    )


def right_index(query_len):
    i = LENGTH - query_len + np.arange(query_len)[:, np.newaxis]
    return np.clip(np.arange(LENGTH) - i, -K, K) + K


def read_key_index(asker, query_len):
    """Row of the key table that each pair reads, and the scale of the relative logits."""
    dark = asker.weights(query_len=query_len)
    lit = [asker.weights(query_len=query_len, lit_row=row, lit=LIT) for row in range(2 * K + 1)]
    if dark is None or any(weights is None for weights in lit):
        return None, None
    with np.errstate(all="ignore"):
        change = np.log(np.array(lit) / dark)  # (row, i, j)
    if not np.isfinite(change).all():
        asker.problems.append("the weights are not positive numbers, so rows cannot be read")
        return None, None
    for sign in (1, -1):
        reads = sign * change > 1e-3
        if (reads.sum(axis=0) <= 1).all():
            break
    index = np.where(reads.any(axis=0), reads.argmax(axis=0), -1)
    steps = [sign * (abs(c[r].mean()) + abs(c[~r].mean())) for c, r in zip(
        change.reshape(-1, LENGTH), reads.reshape(-1, LENGTH), strict=True)
        if r.any() and not r.all()]
    return index, float(np.median(steps)) / LIT if steps else 0.0


def read_value_index(asker):
    """Row of the value table that each pair reads: one key at a time takes all the weight."""
    rows = np.zeros((2 * K + 1, WIDTH))
    rows[:, 0], rows[:, 1] = 1, np.arange(1, 2 * K + 2)
    index = np.full((LENGTH, LENGTH), -1)
    for j in range(LENGTH):
        output = asker.ask(lit_key=j, lit=HUGE, value_rows=rows)
        if output is None:
            return None
        with np.errstate(all="ignore"):
            row = output[:, 1] / output[:, 0] - 1
        sure = np.isfinite(row) & (abs(row - np.round(row)) < 0.05)
        index[sure, j] = np.round(row[sure])
    return index


def read_content_scale(asker):
    """Scale of q.k, from the ratio of a lit key's weight to another's."""
    weights = asker.weights(lit_key=0, lit=LIT)
    if weights is None:
        return None
    with np.errstate(all="ignore"):
        step = np.log(weights[:, 0] / weights[:, 1])
    return float(np.median(step)) / LIT if np.isfinite(step).all() else None


def read_axis(asker):
    """Over which axis the weights add up to 1."""
    weights = asker.all_weights(inputs=asker.random_inputs())
    if weights is None or not np.isfinite(weights).all():
        return ""
    axes = {"the keys": -1, "the queries": -2, "the heads": 1, "the batch": 0}
    return next((name for name, axis in axes.items()
                 if np.allclose(weights.sum(axis=axis), 1, atol=asker.loose)), "no axis")


def read_mask(asker):
    """Weights with two keys hidden, and what a row gives that may attend to nothing."""
    mask = np.ones((LENGTH, LENGTH), dtype=bool)
    mask[:, [1, 5]] = False
    mask[3] = False
    weights = asker.all_weights(mask=mask)
    if weights is None:
        return {"masked_weight": None, "kept_sum": None, "hidden_row": ""}
    rows = np.delete(weights, 3, axis=2)
    keep = np.delete(mask, 3, axis=0)
    sums = np.where(keep, rows, 0).sum(axis=-1)
    return {
        "masked_weight": float(np.where(keep, 0, rows).max()),
        "kept_sum": float(sums.flat[abs(sums - 1).argmax()]),
        "hidden_row": habit(weights[0, 0, 3]),
    }


def habit(row):
    """In a word, what the weights of a hidden row are."""
    if np.isnan(row).any():
        return "NaN"
    if not row.any():
        return "zeros"
    return "uniform" if np.allclose(row, 1 / LENGTH, atol=1e-3) else "other"


def scalar(output):
    """The number in the first column, the median over queries; None if it is no number."""
    if output is None or np.isnan(output[:, 0]).any():
        return None
    return float(np.median(output[:, 0]))
