"""Outputs that are right but for a little: an epsilon in a denominator, or float32 inside."""

import functools

import numpy as np

from relpos_np.verify.compare import error_ratio, tolerance
from relpos_np.verify.expected import conditions, output_ratio
from relpos_np.verify.findings import entry_finding, only_float32
from relpos_np.verify.match import fits, outcome
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake

LARGEST_EPSILON = 0.02

# Roundings of float32 use up at least this share of what float32 is allowed.
LEAST_SHARE = 1e-3


def with_epsilon(epsilon):
    """The step `weights` with ``exp / (sum + epsilon)``: the largest weight is 1 / sum."""
    def weights(x):
        right = x.softmax(x.scores)
        return right / (1 + right.dtype.type(epsilon) * right.max(axis=-1, keepdims=True))

    return {"weights": weights}


def epsilon_findings(runs, wrong, dtype):
    """One finding if an epsilon beside the softmax's sum explains all runs, else none."""
    epsilon = solved_epsilon(wrong[0])
    if not 0 < epsilon < LARGEST_EPSILON:
        return []
    entry = Mistake(
        "softmax_epsilon", with_epsilon(epsilon), MISTAKE,
        wrote=f"exp(scores - max) / (sum exp(scores - max) + {epsilon:.2g})",
        why="The weights of a query add up to a little less than 1. The sum is at least 1 (the "
            "largest score gives exp(0)), so there is no division by 0 to be afraid of.",
    )
    gives = functools.partial(outcome, entry.change)
    habit = fits(gives, runs, dtype)
    if not habit or not all(closely(run, gives, dtype) for run in runs if run.stages):
        return []
    return [entry_finding(entry, habit)]


def solved_epsilon(run):
    """The epsilon that brings the formula nearest to a run: least squares, improved by secants."""
    got, expected = run.stages["output"], run.case.expected["output"]
    if not np.isfinite(got).all():
        return 0.0
    epsilon = 1e-6
    for _ in range(8):
        step = outcome(with_epsilon(epsilon), run.case, np.float64).output - expected
        epsilon *= float(((got - expected) * step).sum() / (step * step).sum())
        if not 1e-15 < epsilon < 1:
            return 0.0
    return epsilon


def closely(run, gives, dtype):
    """Whether a changed formula is as near as roundings allow where no row is all hidden."""
    wrong = gives(run.case, np.float64)
    if wrong.met_hidden:
        return True
    allowed = 2 * tolerance(conditions(run.case)["output"], dtype)
    return bool(error_ratio(run.stages["output"], wrong.output, allowed).max(initial=0) <= 1)


def float32_findings(runs, wrong):
    """One finding if the errors are as large and as irregular as roundings of float32."""
    ratios = [output_ratio(run, np.float32) if run.stages else np.inf for run in runs]
    if not LEAST_SHARE < max(ratios) <= 1 or one_sided(wrong):
        return []
    return [only_float32(wrong)]


def one_sided(runs):
    """Whether nearly all outputs are too large, or nearly all too small: a factor, no roundings."""
    outward = np.concatenate([
        np.sign((run.stages["output"] - run.case.expected["output"])
                * run.case.expected["output"]).ravel() for run in runs])
    outward = outward[outward != 0]
    return len(outward) > 20 and abs(outward.mean()) > 0.9
