"""identify(): which known mistake or convention reproduces an output that someone recorded?"""

import functools
import itertools
from typing import NamedTuple

import numpy as np

from relpos_np.verify.findings import RIGHT
from relpos_np.verify.formula import INPUTS, run_forward
from relpos_np.verify.hidden_rows import SOFTMAXES
from relpos_np.verify.mistakes import CORRECT, FORWARD
from relpos_np.verify.mistakes.conventions import FIXED_SIDES, left_right_of


class Identified(NamedTuple):
    """Something that reproduces the output."""

    name: str  # of the catalogue entry, "first + second" for two together, "right" for none
    verdict: str  # PASS, CONVENTION, RESCALE, MISTAKE
    wrote: str
    right: str
    repair: str
    hidden_rows: str  # what it does in rows that may attend to nothing; "zeros" is ours
    error: float  # largest difference from what was recorded


def identify(inputs, output=None, *, weights=None, scores=None, tolerance=None, pairs=True):
    """Name the known mistakes and conventions that reproduce a recorded output.

    Parameters
    ----------
    inputs : dict of str to ndarray
        `query`, `key`, `value`, `relative_key_table`, `relative_value_table` (either table may
        be missing or None), `mask` (True = may attend, optional), `query_start` (default: the
        queries are the last positions). Tables as the recorded software was given them; an even
        number of rows is understood as unequal left and right sides.
    output, weights, scores : ndarray, optional
        What was recorded, at least one of them. Scores are compared where they are finite.
    tolerance : float, optional
        Largest difference allowed, absolute; by default 1e-5 of the largest recorded number,
        1e-9 if all that was recorded is float64.
    pairs : bool
        If nothing alone fits, try two together.

    Returns
    -------
    tuple of Identified
        All that fit, the right formula (named "right") first; empty if nothing does.

    Raises
    ------
    ValueError
        If nothing recorded is given.

    Examples
    --------
    >>> from relpos_np.verify.cases import find_case
    >>> inputs = find_case("unmasked").formula_inputs()
    >>> wrong = run_forward(inputs, {"index": lambda x: np.clip(x.i - x.j, -x.k, x.k) + x.k})
    >>> [found.name for found in identify(inputs, wrong.output)]
    ['sign_flip']
    """
    recorded = {"output": output, "weights": weights, "scores": scores}
    recorded = {name: np.asarray(a) for name, a in recorded.items() if a is not None}
    if not recorded:
        raise ValueError("give at least one of output, weights, scores: what was recorded")
    inputs = complete(inputs)
    error_of = functools.partial(reproduction_error, inputs, recorded)
    allowed = {name: limit(array, tolerance) for name, array in recorded.items()}
    right = fitting("right", [], error_of, allowed)
    if right:
        return (right,)
    sides = known_sides(inputs)
    entries = [entry for entry in FORWARD if entry.verdict != CORRECT and not (
        sides and entry in FIXED_SIDES)]
    entries += sides
    alone = [fitting(entry.name, [entry], error_of, allowed) for entry in entries]
    if any(alone) or not pairs:
        return tuple(found for found in alone if found)
    together = (
        fitting(f"{first.name} + {second.name}", [first, second], error_of, allowed)
        for first, second in itertools.combinations(entries, 2)
        if not set(first.change) & set(second.change)
    )
    return tuple(found for found in together if found)


def complete(inputs):
    """All inputs in float64, with None and the last positions where nothing is said."""
    arrays = {name: inputs.get(name) for name in INPUTS}
    arrays = {name: None if a is None else np.asarray(a, dtype=float)
              for name, a in arrays.items()}
    mask, start = inputs.get("mask"), inputs.get("query_start")
    if start is None:
        start = arrays["key"].shape[2] - arrays["query"].shape[2]
    return {**arrays, "mask": None if mask is None else np.asarray(mask, dtype=bool),
            "query_start": int(start)}


def known_sides(inputs):
    """Left and right conventions for tables of these many rows."""
    tables = [inputs[name] for name in INPUTS[3:] if inputs[name] is not None]
    return left_right_of(tables[0].shape[-2]) if tables and tables[0].shape[-2] <= 256 else ()


def limit(array, tolerance):
    """Largest difference allowed from a recorded array."""
    if tolerance is not None:
        return tolerance
    finite = abs(array[np.isfinite(array)])
    return (1e-9 if array.dtype == np.float64 else 1e-5) * max(float(finite.max(initial=0)), 1)


def fitting(name, entries, error_of, allowed):
    """What is to be said if these entries together reproduce the recording, else None."""
    changes = {step: change for entry in entries for step, change in entry.change.items()}
    for hidden_rows in SOFTMAXES:
        errors, met_hidden = error_of(changes, hidden_rows)
        if errors is not None and all(errors[stage] <= allowed[stage] for stage in allowed):
            verdicts = {entry.verdict for entry in entries} or {"PASS"}
            return Identified(
                name, verdict="MISTAKE" if "MISTAKE" in verdicts else verdicts.pop(),
                wrote="; ".join(entry.wrote for entry in entries),
                right="; ".join(RIGHT[entry.stage] for entry in entries),
                repair="; ".join(entry.repair for entry in entries if entry.repair),
                hidden_rows=hidden_rows, error=max(errors.values()),
            )
        if not met_hidden:
            return None
    return None


def reproduction_error(inputs, recorded, changes, hidden_rows):
    """Largest difference of each recorded array from what the changed formula gives.

    And whether some row had nothing to attend to, so that other habits are worth trying.
    """
    try:
        x = run_forward(inputs, changes, hidden_rows)
    except (IndexError, ValueError):
        return None, False
    errors = {name: largest_difference(array, getattr(x, name), hidden=name == "scores")
              for name, array in recorded.items()}
    return errors, x.met_hidden


def largest_difference(got, expected, hidden=False):
    """Largest |got - expected|; NaN must meet NaN, and hidden scores are passed over."""
    if got.shape != expected.shape:
        return np.inf
    compared = np.isfinite(expected)
    if not hidden and not np.array_equal(compared, np.isfinite(got)):
        return np.inf
    difference = abs(got[compared].astype(float) - expected[compared])
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0))
