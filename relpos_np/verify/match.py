"""Which known mistakes compute exactly what a candidate computed?"""

import functools
import itertools
from typing import NamedTuple

import numpy as np

from relpos_np.verify.backward_formula import run_backward
from relpos_np.verify.cases import find_case, load_cases
from relpos_np.verify.formula import run_forward
from relpos_np.verify.hidden_rows import SOFTMAXES
from relpos_np.verify.layer_formula import run_layer
from relpos_np.verify.mistakes import EVERYTHING, find

NAMES = {entry.name for entry in EVERYTHING}

# Two computations of one wrong formula differ by roundings only, while two formulas differ by a
# thousandth at least; so this need not be tight. In units of u, per unit of the largest score.
LOOSE = 64.0

# Up to this many outputs a formula is run in a fraction of a millisecond.
SMALL = 1000


class Outcome(NamedTuple):
    """What a changed formula gives for one case: its output, or that it raises."""

    output: np.ndarray | None  # None if it raised
    largest_score: float
    met_hidden: bool  # whether some row had nothing to attend to


def outcome(changes, case, dtype, hidden_rows="zeros"):
    """The formula with some steps replaced, on the inputs of a case in some dtype.

    An index out of range or shapes that do not fit raise in the changed formula as they would
    in the port that has the mistake.
    """
    run_formula = run_layer if case.num_heads else run_forward
    try:
        with np.errstate(all="ignore"):
            x = run_formula(case.formula_inputs(dtype), changes, hidden_rows)
    except (IndexError, ValueError):
        return Outcome(None, 0.0, False)
    return Outcome(x.output, max(largest(x.scores), 1.0), x.met_hidden)


def known_outcome(entry, case, dtype, hidden_rows="zeros"):
    """`outcome` of a catalogue entry, kept for the next time if the case is one of ours."""
    if entry.name in NAMES and any(case is known for known in load_cases()):
        return kept_outcome(entry.name, case.id, np.dtype(dtype), hidden_rows)
    return outcome(entry.change, case, dtype, hidden_rows)


@functools.cache
def kept_outcome(name, case_id, dtype, hidden_rows):
    return outcome(find(name).change, find_case(case_id), dtype, hidden_rows)


def same(run, wrong, dtype):
    """Whether a run and a changed formula have the same outcome: both raise, or equal outputs."""
    if wrong.output is None or not run.stages:
        return wrong.output is None and bool(run.raised)
    return close(run.stages["output"], wrong.output, wrong.largest_score, dtype)


def close(got, expected, largest_score, dtype, scale=None):
    """Equal but for roundings; NaN and infinities at the same places.

    `scale` is the size of what roundings come from, by default the largest number expected.
    """
    if np.shape(got) != np.shape(expected):
        return False
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(got)):
        return False
    difference = abs(got[finite].astype(float) - expected[finite])
    scale = largest(expected) + 1e-3 if scale is None else scale
    unit = float(np.finfo(dtype).eps) / 2
    return bool(difference.max(initial=0) <= LOOSE * unit * (1 + largest_score) * scale)


def fits(outcome_of, runs, dtype):
    """Whether a changed formula explains every run; returns the habit for hidden rows, or "".

    Where a row may attend to nothing, four habits are in use (hidden_rows.py): the one that fits
    must be the same in all cases.

    Parameters
    ----------
    outcome_of : callable
        ``outcome_of(case, dtype, hidden_rows)`` is an `Outcome`.
    runs : sequence of Run
    dtype : dtype
    """
    for hidden_rows in SOFTMAXES:
        for run in runs:
            wrong = outcome_of(run.case, dtype, hidden_rows)
            if not same(run, wrong, dtype):
                break
        else:
            return hidden_rows
        if not wrong.met_hidden:  # no other habit can change that
            break
    return ""


def matching(entries, runs, dtype):
    """The entries that explain every run, each with the habit for hidden rows that fits.

    Returns
    -------
    list of (Mistake, str)
    """
    found = [(entry, fits(functools.partial(known_outcome, entry), runs, dtype))
             for entry in entries]
    return [(entry, hidden_rows) for entry, hidden_rows in found if hidden_rows]


def matching_pairs(entries, runs, wrong, dtype, most=6):
    """Pairs of entries, of different steps, that explain every run together.

    The first run that does not fit ends the trial of a pair. There are thousands of pairs, so
    small runs come first, of those the `wrong` ones, which few pairs explain.
    """
    first = {run.case.id for run in wrong}
    in_order = sorted(runs, key=lambda run: (
        size(run) > SMALL, run.case.id not in first, size(run)))
    found = []
    for first, second in itertools.combinations(entries, 2):
        if set(first.change) & set(second.change):
            continue
        outcome_of = functools.partial(outcome, {**first.change, **second.change})
        if fits(outcome_of, in_order, dtype):
            found.append((first, second))
            if len(found) == most:
                break
    return found


def size(run):
    return run.case.expected["output"].size


def gradients_fit(entry, runs, dtype):
    """Whether a mistake of the way back explains the gradients of every run."""
    for run in runs:
        inputs = run.case.formula_inputs(dtype)
        try:
            x = run_backward(inputs, run.case.grad_output.astype(dtype), entry.change)
        except (IndexError, ValueError):
            if run.grads_raised:
                continue
            return False
        if run.grads_raised:
            return False
        # One scale for all: a gradient may be 0 in exact arithmetic (a key table's with k = 0
        # is), and then it consists of the roundings of terms that are not.
        scale = max(largest(grad) for grad in x.returned.values() if grad is not None)
        if not all(close(grad, x.returned[name], max(largest(x.scores), 1.0), dtype, scale)
                   for name, grad in run.grads.items()):
            return False
    return True


def largest(array):
    """The largest absolute value that is finite, 0 if there is none."""
    return float(abs(array[np.isfinite(array)]).max(initial=0))
