"""From the outputs of a candidate to what it did wrong, in words."""

import numpy as np

from relpos_np.verify.expected import (
    first_stage_difference,
    output_difference,
    output_ratio,
)
from relpos_np.verify.findings import (
    RIGHT,
    entry_finding,
    hidden_rows_finding,
    said,
)
from relpos_np.verify.match import matching, matching_pairs
from relpos_np.verify.mistakes import CORRECT, FORWARD, LAYER
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
