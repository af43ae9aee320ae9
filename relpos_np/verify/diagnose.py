"""From what a candidate did to what it did wrong, in words."""

import numpy as np

from relpos_np.verify.expected import (
    first_stage_difference,
    gradient_differences,
    output_difference,
    output_ratio,
)
from relpos_np.verify.findings import (
    RIGHT,
    entry_finding,
    hidden_rows_finding,
    said,
)
from relpos_np.verify.gradient_factors import relation
from relpos_np.verify.match import gradients_fit, matching, matching_pairs
from relpos_np.verify.mistakes import BACKWARD, CORRECT, FORWARD, LAYER
from relpos_np.verify.mistakes.mistake import Mistake
from relpos_np.verify.nearly import epsilon_findings, float32_findings
from relpos_np.verify.report import UNKNOWN, Finding, gravest

# The formula itself, to be matched with the other habits for rows that may attend to nothing.
NOTHING_CHANGED = Mistake("", {}, "CONVENTION", wrote="", why="")

# Breaches of the contract that say nothing about the formula: such runs are not matched with it.
NO_ANSWER = {"hangs", "no_array", "not_deterministic"}


def entries_for(runs):
    """The part of the catalogue that can explain these runs."""
    entries = (*LAYER, *FORWARD) if any(run.case.num_heads for run in runs) else FORWARD
    return [entry for entry in entries if entry.verdict != CORRECT]


def output_findings(runs, dtype):
    """What explains the outputs, if something is wrong with them.

    Returns
    -------
    list of Finding
    set of str
        The breaches of the contract that are explained too: a formula that raises or gives
        another shape where the candidate does.
    """
    answered = [run for run in runs if (run.stages or run.raised)
                and not NO_ANSWER & {name for name, _ in run.faults}]
    wrong = [run for run in answered if run.raised or output_ratio(run, precision(run, dtype)) > 1]
    if not wrong or not any(run.stages for run in runs):
        return [], set()
    comparable = [run for run in wrong if run.stages
                  and run.stages["output"].shape == run.case.expected["output"].shape]
    found, explained = named(answered, dtype)
    if not found and comparable:
        found = epsilon_findings(answered, comparable, dtype)
    if not found and np.dtype(dtype) == np.float64:
        found, explained = with_float32_inside(answered, comparable)
    if found:
        return found, explained
    if not comparable:
        return [], set()  # the breach of the contract says it all
    return pairs_found(answered, comparable, dtype) or [unknown(comparable, dtype)], set()


def with_float32_inside(runs, comparable):
    """What explains the outputs of float64 inputs to float32 precision, if something does."""
    found = float32_findings(runs, comparable) if comparable else []
    if found:
        return found, set()
    found, explained = named(runs, np.float32)
    note = "and to float32 precision only: some step is computed in float32"
    return [finding if finding.name.startswith("hidden_rows")
            else finding._replace(lines=(*finding.lines, note)) for finding in found], explained


def precision(run, dtype):
    """The dtype to hold a run to: its own, if that is the coarser one."""
    own = run.stages["output"].dtype if run.stages else np.dtype(dtype)
    if not np.issubdtype(own, np.floating):
        return np.dtype(dtype)
    return max(own, np.dtype(dtype), key=lambda d: np.finfo(d).eps)


def named(runs, dtype):
    """Findings for the catalogue entries that explain all runs, and what else they explain.

    A port that cannot do something (unequal lengths, say) may raise there or, where one query
    happens to broadcast, give anything. If nothing explains all, cases of the kind that raised
    are left aside: first those that gave something, then those that raised as well.
    """
    habit = matching([NOTHING_CHANGED], runs, dtype)
    if habit:  # with our own habit nothing is wrong that could be told from roundings
        habit = habit[0][1]
        return [hidden_rows_finding(habit)] if habit != "zeros" else [], set()
    raised = [run for run in runs if run.raised]
    kinds = {tag for run in raised for tag in run.case.tags}
    usable = [run for run in runs if run.raised or not kinds & {*run.case.tags}]
    answered = [run for run in usable if run.stages]
    for tried in (runs, usable, answered):
        if tried is not runs and not any(
            run.stages and output_ratio(run, dtype) > 1 for run in tried
        ):
            break  # nothing wrong is left to explain
        found = matching(entries_for(runs), tried, dtype)
        if found:
            explained = set() if tried is answered else {"raises", "wrong_shape"}
            return [entry_finding(entry, habit) for entry, habit in found], explained
    return [], set()


def pairs_found(runs, wrong, dtype):
    """Findings for pairs of mistakes made together."""
    pairs = matching_pairs(entries_for(runs), runs, wrong, dtype)
    return [
        Finding(gravest(both), f"{both[0].name} + {both[1].name}", both[0].lines + both[1].lines)
        for both in (tuple(map(entry_finding, pair)) for pair in pairs)
    ]


def unknown(wrong, dtype):
    """Facts about a mistake that nobody has listed: where it first differs."""
    smallest = min(wrong, key=lambda run: run.stages["output"].size)
    lines = ["no known mistake, and no two together, give these outputs"]
    stage = first_stage_difference(smallest, precision(smallest, dtype))
    if stage:
        lines.append(f"the first stage that differs is {stage.name}: {said(stage)}")
        lines.append(f"right:    {RIGHT.get(stage.name, stage.name)}")
    difference = output_difference(smallest, precision(smallest, dtype))
    if difference:
        lines.append(f"smallest case that differs is {smallest.case.id}: output {said(difference)}")
    return Finding(UNKNOWN, "", tuple(lines))


def gradient_findings(runs, dtype):
    """What explains the gradients, if some are wrong though the outputs are right."""
    asked = [run for run in runs if run.grads or run.grads_raised]
    wrong = {run.case.id: gradient_differences(run, gradient_precision(run, dtype))
             for run in asked}
    wrong = {case: differences for case, differences in wrong.items() if differences}
    if not wrong:
        return [], ()
    differences = tuple(d for found in wrong.values() for d in found)
    entries = [] if asked[0].case.num_heads else BACKWARD
    found = [entry_finding(entry) for entry in entries if gradients_fit(entry, asked, dtype)]
    names = sorted({d.name.removeprefix("grad_") for d in differences})
    given = next(run.grads for run in asked if run.grads)
    right = [name for name in given if name not in names]
    where = (f"wrong gradients: {', '.join(names)}; right: {', '.join(right) or 'none'}",)
    if not found:
        found = [shapes_finding(differences) or factors_finding(names, asked, dtype)
                 or unknown_gradients(differences[0])]
    return [finding._replace(lines=(*finding.lines, *where)) for finding in found], differences


def shapes_finding(differences):
    """A finding if a gradient has not the shape of its input, else None."""
    wrong = {d.name: f"{d.name} {said(d)} (in {d.case})" for d in differences if d.shapes}
    return Finding("MISTAKE", "gradients_wrong_shape", tuple(wrong.values())) if wrong else None


def factors_finding(names, runs, dtype):
    """A finding if each wrong gradient is made of the right one in a simple way, else None."""
    lines = []
    for name in names:
        having = [run for run in runs if name in run.grads]
        related = relation(name, having, gradient_precision(having[0], dtype))
        if not related:
            return None
        lines.append(f"the gradient of {name} is {related}")
    return Finding("MISTAKE", "gradients_scaled", tuple(lines))


def unknown_gradients(difference):
    return Finding(UNKNOWN, "", (
        "the outputs are right, the gradients are not, and no known mistake gives them",
        f"first in {difference.case}: {difference.name} {said(difference)}"))


def gradient_precision(run, dtype):
    return max((np.dtype(dtype), *(grad.dtype for grad in run.grads.values())),
               key=lambda d: np.finfo(d).eps)
