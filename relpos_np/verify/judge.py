"""From all runs of a candidate to one report."""

import numpy as np

from relpos_np.verify.diagnose import output_findings, precision
from relpos_np.verify.diagnose_gradients import gradient_findings
from relpos_np.verify.exclude import not_excluded, separated_by
from relpos_np.verify.expected import output_difference, output_ratio
from relpos_np.verify.findings import contract_findings
from relpos_np.verify.mistakes import FORWARD, LAYER
from relpos_np.verify.report import (
    CANNOT_RUN,
    PASS,
    CaseResult,
    Finding,
    Report,
    gravest,
    shortened,
)

# Where the right number is 0 with no rounding at all, ratios to the tolerance say nothing.
EXACTLY = 1e100

FORWARD_NAMES = {entry.name for entry in (*FORWARD, *LAYER)}


def judge(name, runs, left_out, cases, dtype, missing=()):
    """The report on runs of a candidate, live or read from files.

    Parameters
    ----------
    name : str
        Of the candidate.
    runs : sequence of Run
    left_out : dict of str to str
        Case id to the reason why it was not run.
    cases : sequence of Case
        All of the kind.
    dtype : dtype of the inputs
    missing : sequence of str
        Ids of cases that should have been run: without them there is no PASS.

    Returns
    -------
    Report
    """
    findings, explained = output_findings(runs, dtype)
    differences = tuple(
        difference for run in runs if run.stages
        if (difference := output_difference(run, precision(run, dtype)))
    )
    remarks = merged_remarks(runs)
    right = [run for run in runs if run.stages and run.case.id not in
             {difference.case for difference in differences}]
    if any(run.grads for run in right):
        found, wrong_gradients = gradient_findings(right, dtype)
        findings, differences = [*findings, *found], (*differences, *wrong_gradients)
        explained |= {"gradients_raises"} if any(finding.name for finding in found) else set()
    elif any(run.grads for run in runs):
        remarks += ("the gradients were not judged: the outputs they belong to are not right",)
    findings += [finding for finding in contract_findings(runs) if finding.name not in explained]
    if not runs:
        findings = [Finding(CANNOT_RUN, "", ("no case was left to run",))]
    if missing and not findings:
        findings = [missing_finding(missing)]
    known = [finding.name for finding in findings if finding.name in FORWARD_NAMES]
    if len(known) > 1:
        remarks += (separated_by(known, [run.case for run in runs], cases, dtype),)
    verdict = gravest(findings)
    given = [name for name in cases[0].inputs if any(name in run.grads for run in runs)]
    if given and (absent := [name for name in cases[0].inputs if name not in given]):
        remarks += (f"no gradient came back for {', '.join(absent)}: not judged",)
    return Report(
        candidate=name, dtype=str(dtype), verdict=verdict, findings=tuple(findings),
        cases=case_results(runs, left_out, cases, dtype, differences), differences=differences,
        remarks=remarks, where={},
        not_excluded=not_excluded([run.case for run in right], cases, dtype, given)
        if verdict == PASS else (),
    )


def missing_finding(missing):
    """What keeps results that are right as far as they go from passing."""
    return Finding(CANNOT_RUN, "", (
        f"{len(missing)} cases have no result, so nothing is known of them: "
        f"{shortened(missing)}",
        "write their results too, or say which are left out on purpose: --without "
        f"{','.join(missing)}"))


def merged_remarks(runs):
    """Each remark once, with the number of cases."""
    counts = {}
    for run in runs:
        for remark in run.remarks:
            counts[remark] = counts.get(remark, 0) + 1
    return tuple(f"{remark} ({count} cases)" for remark, count in counts.items())


def case_results(runs, left_out, cases, dtype, differences):
    """One line per case, in the order of the cases."""
    ran = {run.case.id: run for run in runs}
    results = []
    for case in cases:
        if case.id not in ran:
            reason = left_out.get(case.id, "not run")
            results.append(CaseResult(case.id, "left out", 0.0, reason))
            continue
        run = ran[case.id]
        ratio = output_ratio(run, precision(run, dtype)) if run.stages else float("inf")
        wrong = [difference for difference in differences if difference.case == case.id]
        if run.faults:
            status, note = run.faults[0][0].replace("_", " "), run.faults[0][1]
        elif wrong:
            status, note = "differs", differs_by(wrong)
        else:
            status, note = "pass", ""
        results.append(CaseResult(case.id, status, ratio, note))
    return tuple(results)


def differs_by(differences):
    """By how much each array of a case differs, in one line."""
    said = ", ".join(f"{found.name} {amount(found)}" for found in differences)
    right = all(found.name != "output" for found in differences)
    return f"{'output right; ' if right else ''}{said}"


def amount(found):
    """The size of one difference."""
    if found.shapes:
        return "has the wrong shape"
    if not np.isfinite(found.got):
        return f"is {found.got} where {found.expected:.3g} is right"
    if found.expected == 0 and found.ratio > EXACTLY:
        return f"should be exactly 0, got {found.got:.2g}"
    return f"off by {found.ratio:.1e} times its tolerance"
