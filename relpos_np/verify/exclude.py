"""Which known mistakes could this run not have noticed, and why?"""

import functools

import numpy as np

from relpos_np.verify.backward_formula import run_backward
from relpos_np.verify.cases import find_case
from relpos_np.verify.compare import compare
from relpos_np.verify.expected import conditions
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.match import close, known_outcome
from relpos_np.verify.mistakes import BACKWARD, CORRECT, FORWARD, LAYER, find

NO_GRADIENTS = "no gradients were given (grads=...)"
NO_LAYER = "the layer was not run (layer=True)"
BEYOND = "anything that goes wrong only outside of"


def not_excluded(ran, cases, dtype, gradients):
    """What would have passed this run too, by the reason why: known mistakes, and other sizes.

    Parameters
    ----------
    ran : sequence of Case
        Those in which an output was judged.
    cases : sequence of Case
        All of the kind; one that was not run may be the one that would have told.
    dtype : dtype
    gradients : sequence of str
        Names of the inputs whose gradients were judged.

    Returns
    -------
    tuple of (str, tuple of str)
        Reason, names of the catalogue; and last the sizes.
    """
    return (*as_pairs(known_mistakes(ran, cases, dtype, gradients)),
            *skipped(ran, cases), (BEYOND, tuple(sizes_tried(ran))))


def known_mistakes(ran, cases, dtype, gradients):
    """Names of the catalogue by reason; parameters as for `not_excluded`."""
    layer = any(case.num_heads for case in cases)
    reasons = {}
    for entry in (*LAYER, *FORWARD) if layer else FORWARD:
        if entry.verdict != CORRECT:
            file_under(reasons, entry, ran, cases, functools.partial(shows, entry, dtype=dtype))
    if layer:
        return reasons  # the way back is judged against no catalogue there
    for entry in BACKWARD if gradients else ():
        file_under(reasons, entry, ran, cases, lambda case, entry=entry: shows_in_gradients(
            entry.name, case.id, np.dtype(dtype), tuple(gradients)))
    if not gradients:
        reasons[NO_GRADIENTS] = [entry.name for entry in BACKWARD]
    reasons[NO_LAYER] = [entry.name for entry in LAYER]
    return reasons


def skipped(ran, cases):
    """What a port need not be able to do, and was not seen to do."""
    ids = [case.id for case in ran]
    abouts = tuple(case.about for case in cases if case.optional and case.id not in ids)
    return (("what was not run", abouts),) if abouts else ()


def sizes_tried(ran):
    """The largest length and head_dim among cases, and every k, in words."""
    by_position = [case.inputs.get("key", case.inputs.get("x")) for case in ran]
    tables = [case.inputs[name] for case in ran for name in INPUTS[3:]]
    shapes = {table.shape for table in tables if table is not None}
    yield f"length <= {max(array.shape[-2] for array in by_position)}"
    yield f"head_dim <= {max(shape[-1] for shape in shapes)}"
    yield f"k in {sorted({shape[-2] // 2 for shape in shapes})}"


def separated_by(names, ran, cases, dtype):
    """In words, what would tell apart the known mistakes that all explain a run."""
    entries = [find(name) for name in names]
    ids = [case.id for case in ran]
    telling = [case.id for case in cases if case.id not in ids and any(
        not alike(known_outcome(entries[0], case, dtype), known_outcome(entry, case, dtype), dtype)
        for entry in entries[1:])]
    both = " and ".join(names)
    if telling:
        return f"{both} fit; a case that was not run would separate them: {', '.join(telling)}"
    return f"{both} are the same function"


def alike(first, second, dtype):
    """Whether two outcomes of changed formulas could be told apart."""
    if first.output is None or second.output is None:
        return first.output is None and second.output is None
    return close(first.output, second.output, first.largest_score, dtype)


def as_pairs(reasons):
    return tuple((reason, tuple(names)) for reason, names in reasons.items())


def file_under(reasons, entry, ran, cases, shows_in):
    """Add the entry to `reasons` unless a case that was run shows it."""
    if any(shows_in(case) for case in ran):
        return
    ids = [case.id for case in ran]
    telling = [case.id for case in cases if case.id not in ids and shows_in(case)]
    reason = f"it shows in {' and '.join(telling[:3])}" if telling else "no case shows it here"
    reasons.setdefault(reason, []).append(entry.name)


def shows(entry, case, dtype):
    """Whether a mistake makes a case fail: it raises, or leaves the tolerance."""
    wrong = known_outcome(entry, case, dtype)
    return wrong.output is None or compare(
        case.id, "output", wrong.output, case.expected["output"], conditions(case)["output"],
        dtype) is not None


@functools.cache
def shows_in_gradients(name, case_id, dtype, gradients):
    """Whether a mistake of the way back makes a gradient of a case fail."""
    case = find_case(case_id)
    try:
        x = run_backward(case.formula_inputs(dtype), case.grad_output.astype(dtype),
                         find(name).change)
    except (IndexError, ValueError):
        return True
    return any(
        compare(case.id, name, x.returned[name], case.expected[f"grad_{name}"],
                conditions(case)[f"grad_{name}"], dtype)
        for name in gradients if x.returned[name] is not None
    )
