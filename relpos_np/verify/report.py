"""What verify() says: a verdict, in words, as JSON, as a figure, as an exit code."""

import json
import math
import os
import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np

PASS, CANNOT_RUN, UNKNOWN = "PASS", "CANNOT RUN", "UNKNOWN"
EXIT_CODES = {PASS: 0, "MISTAKE": 1, "CONVENTION": 2, "RESCALE": 2, UNKNOWN: 3, CANNOT_RUN: 4}
# If several things are found, the first of these is the verdict.
GRAVEST_FIRST = (CANNOT_RUN, "MISTAKE", UNKNOWN, "RESCALE", "CONVENTION")


class Finding(NamedTuple):
    """One thing that was found."""

    verdict: str
    name: str  # of the catalogue entry, of a breach of the contract, or ""
    lines: tuple  # what there is to say, a sentence or a labelled line each


class CaseResult(NamedTuple):
    """How one case went."""

    id: str
    status: str  # "pass", "differs", "raises", "hangs", "left out", ...
    ratio: float  # worst error of the output in units of its tolerance
    note: str


class Report(NamedTuple):
    """The result of a verification."""

    candidate: str
    dtype: str
    verdict: str
    findings: tuple
    cases: tuple
    differences: tuple  # of class Difference, outputs and gradients
    remarks: tuple
    not_excluded: tuple  # (reason, names)
    where: dict  # case, and weights (h, i, j) got and expected for the figure; empty if none

    @property
    def ok(self):
        """True if nothing is wrong."""
        return self.verdict == PASS

    @property
    def exit_code(self):
        """0 pass, 1 mistake, 2 convention or rescale, 3 unknown, 4 could not run."""
        return EXIT_CODES[self.verdict]

    @property
    def names(self):
        """Names of the known mistakes that were found."""
        return tuple(finding.name for finding in self.findings if finding.name)

    def __str__(self):
        ran = [case for case in self.cases if case.status != "left out"]
        passed = sum(case.status == "pass" for case in ran)
        lines = [f"{self.verdict}   {self.candidate}   {self.dtype}   "
                 f"{passed} of {len(ran)} cases pass"]
        for finding in self.findings:
            lines += ["", " ".join((finding.verdict, finding.name)).rstrip()]
            lines += [wrapped(line) for line in finding.lines]
        lines += ["", *self.case_lines()]
        lines += [f"remark: {remark}" for remark in self.remarks]
        if self.not_excluded:
            lines.append("This run could not have noticed (`explain NAME` says what each is):")
        lines += [textwrap.fill(f"{reason}: {shortened(names)}", 96, initial_indent="  ",
                                subsequent_indent="    ", break_on_hyphens=False)
                  for reason, names in self.not_excluded]
        return "\n".join(lines)

    def case_lines(self):
        """A line for each case that differs, and one for all that went alike otherwise."""
        alike = {}
        for case in self.cases:
            alone = case.id if case.status == "differs" else ""
            key = (case.status != "pass", case.status, case.note, alone)
            alike.setdefault(key, []).append(case.id)
        width = max((len(ids[0]) for ids in alike.values() if len(ids) == 1), default=0)
        return [
            f"{ids[0]:<{width}}  {status}: {note}" if len(ids) == 1 and wrong else
            textwrap.fill(f"{status}: {', '.join(ids)}", 96, subsequent_indent="  ",
                          break_on_hyphens=False) + (note and f"\n  {note}")
            for (wrong, status, note, _), ids in sorted(
                alike.items(), key=lambda item: item[0][0])
        ]

    def assert_ok(self):
        """Raise AssertionError with the whole report unless the verdict is PASS."""
        if not self.ok:
            raise AssertionError(str(self))

    def as_dict(self):
        """The report as JSON can hold it."""
        return plain({
            "candidate": self.candidate, "dtype": self.dtype, "verdict": self.verdict,
            "exit_code": self.exit_code, "names": self.names,
            "findings": [finding._asdict() for finding in self.findings],
            "cases": [case._asdict() for case in self.cases],
            "differences": [difference._asdict() for difference in self.differences],
            "remarks": self.remarks,
            "not_excluded": [{"reason": reason, "names": names}
                             for reason, names in self.not_excluded],
        })

    def to_json(self, path):
        """Write the report as a JSON file, whole or not at all."""
        path = Path(path)
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.write_text(json.dumps(self.as_dict(), indent=1) + "\n", encoding="utf-8")
        os.replace(unfinished, path)

    def plot(self):
        """Heatmaps over query and key of a case that differs: yours - right, head by head.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ValueError
            If there is no such picture: nothing differs, or the candidate's weights could not
            be read.
        """
        if not self.where:
            raise ValueError("there is nothing to plot: no case differs in a way that can be "
                             "shown over query and key")
        from relpos_np.plots import matrix_figure

        difference = np.asarray(self.where["got"]) - np.asarray(self.where["expected"])
        return matrix_figure(
            list(difference), symbol=r"$\alpha_{ij}$, yours $-$ right", signed=True,
            titles=[f"{self.where['case']}, head {head}" for head in range(len(difference))],
        )


def wrapped(line, width=96):
    """A line of a finding, indented; prose is wrapped, code and matrices are not."""
    code = line.startswith(("yours:", "right:", "convert:", "mend:", " "))
    if code or len(line) + 2 <= width:
        return f"  {line}"
    return textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ",
                         break_on_hyphens=False)


def gravest(findings):
    """The verdict of a report from those of its findings."""
    found = {finding.verdict for finding in findings}
    return next((verdict for verdict in GRAVEST_FIRST if verdict in found), PASS)


def shortened(names, most=8):
    """The first names of a long list, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def plain(value):
    """Tuples as lists, numbers that JSON does not know (NaN, infinity) as strings."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
