"""What can be found out by asking the candidate again, which recorded outputs cannot tell."""

import functools

import numpy as np

from relpos_np.verify.diagnose import NOTHING_CHANGED
from relpos_np.verify.findings import entry_finding
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.hidden_rows import ABOUT
from relpos_np.verify.match import fits, matching, outcome
from relpos_np.verify.probing import probe
from relpos_np.verify.report import UNKNOWN, Finding, gravest
from relpos_np.verify.run import run_case
from relpos_np.verify.solve import solved
from relpos_np.verify.words import EXPLANATIONS

TABLES = INPUTS[3:]


def live_findings(report, candidate, runs, dtype, time_limit):
    """The report, with what more questions to the candidate have brought to light."""
    if any(run.case.num_heads for run in runs) or not any(run.stages for run in runs):
        return report
    findings = list(report.findings)
    if any(finding.name == "wrong_shape" for finding in findings) or any(
        run.stages and run.stages["output"].dtype.kind != "f" for run in runs
    ):  # that the numbers are wrong where the shape happens to fit is no more to be said
        findings = [finding for finding in findings if finding.verdict != UNKNOWN]
    if any(finding.name == "raises" for finding in findings):
        wider = unclipped_finding(candidate, runs, dtype, time_limit)
        if wider:  # it explains all but other breaches of the contract
            findings = [wider, *(f for f in findings if f.name in EXPLANATIONS.keys() - {"raises"})]
    wrong = {difference.case for difference in report.differences if difference.name == "output"}
    if wrong and any(finding.verdict == UNKNOWN for finding in findings):
        findings = with_probe(findings, candidate, runs, dtype, time_limit)
    return report._replace(
        findings=tuple(findings), verdict=gravest(findings),
        where=where_it_differs(candidate, runs, report, dtype, time_limit),
    )


def with_probe(findings, candidate, runs, dtype, time_limit):
    """Unknown findings solved from what a probe reads, or else with what it read."""
    read = probe(candidate, dtype=dtype, time_limit=time_limit)
    entry = solved(read)
    if entry and fits(functools.partial(outcome, entry.change), runs, dtype):
        return [entry_finding(entry) if f.verdict == UNKNOWN else f for f in findings]
    return [f._replace(lines=(*f.lines, *read.facts())) if f.verdict == UNKNOWN else f
            for f in findings]


def unclipped_finding(candidate, runs, dtype, time_limit):
    """Does a table with a row for every distance mend it? Then it only lacks the clip."""
    for name, turn in (("unclipped_rows", 1), ("unclipped_reversed_rows", -1)):
        again = [
            run_case(candidate, widened(run.case, turn), dtype, time_limit=time_limit)._replace(
                case=run.case)
            for run in runs
        ]
        right = matching([NOTHING_CHANGED], again, dtype)
        if right:
            habit = right[0][1]
            rows = "np.clip(np.arange(1 - length, length), -k, k) + k"
            return Finding("CONVENTION", name, (
                "yours:    row j - i + length - 1 (or j - i + k) without a clip" if turn == 1 else
                "yours:    row i - j + length - 1 (or i - j + k) without a clip",
                "right:    clip(j - i, -k, k) + k",
                "The table needs a row for every distance; beyond its rows it raises.",
                f"convert:  table = table[..., {rows}, :]{'' if turn == 1 else '[..., ::-1, :]'}"
                f"  # both tables",
                "with tables converted like this every case passes",
                "seen in:  transformers BERT relative_key (2M-1 rows for M positions)",
                *([f"and {ABOUT[habit]}"] if habit != "zeros" else []),
            ))
    return None


def widened(case, turn):
    """The case with tables that have a row for every distance in it, end rows repeated."""
    last = max(case.inputs["key"].shape[2], case.query_start + case.inputs["query"].shape[2]) - 1
    inputs = dict(case.inputs)
    for name in TABLES:
        table = inputs[name]
        if table is not None:
            k = table.shape[-2] // 2
            rows = np.clip(np.arange(-last, last + 1)[::turn], -k, k) + k
            inputs[name] = table[..., rows, :]
    return case._replace(inputs=inputs)


def where_it_differs(candidate, runs, report, dtype, time_limit):
    """Weights over (h, i, j) of a case that differs: right ones and the candidate's."""
    wrong = {difference.case for difference in report.differences if difference.name == "output"}
    differing = [run for run in runs if run.case.id in wrong and "weights" in run.case.expected]
    if not differing:
        return {}
    run = max(differing, key=lambda run: run.case.expected["weights"].shape[2])
    expected = run.case.expected["weights"]
    got = run.stages.get("weights")
    if np.shape(got) != expected.shape:
        got = read_weights(candidate, run.case, dtype, time_limit)
    if got is None or np.shape(got) != expected.shape:
        return {}
    b = np.nan_to_num(abs(got - expected)).max(axis=(1, 2, 3)).argmax()
    return {"case": f"{run.case.id}, batch {b}", "got": got[b], "expected": expected[b]}


def read_weights(candidate, case, dtype, time_limit):
    """The candidate's own weights: what it returns for one-hot values and no value table."""
    key_len, width = case.inputs["key"].shape[2], case.inputs["value"].shape[3]
    columns = []
    for start in range(0, key_len, width):
        value = np.zeros_like(case.inputs["value"])
        for j in range(start, min(start + width, key_len)):
            value[:, :, j, j - start] = 1
        table = case.inputs[TABLES[1]]
        asked = case._replace(inputs={
            **case.inputs, "value": value, TABLES[1]: None if table is None else 0 * table})
        run = run_case(candidate, asked, dtype, time_limit=time_limit)
        if not run.stages or np.shape(run.stages["output"]) != case.expected["output"].shape:
            return None
        columns.append(run.stages["output"])
    return np.concatenate(columns, axis=-1)[..., :key_len]
