"""From the gradients of a candidate to what it did wrong, in words."""

import numpy as np

from relpos_np.verify.expected import gradient_differences
from relpos_np.verify.findings import entry_finding, said
from relpos_np.verify.gradient_factors import relation
from relpos_np.verify.match import gradients_fit
from relpos_np.verify.mistakes import BACKWARD
from relpos_np.verify.report import UNKNOWN, Finding


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
