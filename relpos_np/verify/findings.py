"""Facts about a candidate put into words: what the catalogue says, breaches of the contract."""

from relpos_np.verify import backward_formula, formula, hidden_rows, layer_formula
from relpos_np.verify.report import CANNOT_RUN, Finding, shortened

# The right form of every step, in one line.
RIGHT = {**layer_formula.RIGHT, **formula.RIGHT, **backward_formula.RIGHT}


def contract_findings(runs):
    """One finding per kind of breach: wrong shape or dtype, changed inputs, ..."""
    kinds = {}
    for run in runs:
        for name, sentence in run.faults:
            kinds.setdefault(name, []).append((run.case.id, sentence))
    nothing_came = not any(run.stages for run in runs)
    return [
        Finding(CANNOT_RUN if nothing_came else "MISTAKE", name, said_of(places))
        for name, places in kinds.items()
    ]


def said_of(places):
    """The sentence of a breach and its cases; of sentences that differ, the first for its own."""
    (first, sentence), *others = places
    cases = [case for case, _ in places]
    if len({text for _, text in places}) == 1:
        return (sentence, f"in {shortened(cases)}")
    return (sentence, f"in {first}; likewise in {shortened([case for case, _ in others])}")


def entry_finding(entry, habit="zeros"):
    """What the catalogue has to say about an entry."""
    lines = [f"yours:    {entry.wrote}", f"right:    {RIGHT[entry.stage]}", entry.why]
    if entry.repair:
        lines.append(f"{entry.repair_label}  {entry.repair}")
    if entry.seen_in:
        lines.append(f"seen in:  {entry.seen_in}")
    if habit != "zeros":
        lines.append(f"and {hidden_rows.ABOUT[habit]}")
    return Finding(entry.verdict, entry.name, tuple(lines))


def hidden_rows_finding(habit):
    return Finding("CONVENTION", f"hidden_rows_{habit}", (
        hidden_rows.ABOUT[habit], "expected: zeros", f"convert:  {hidden_rows.REPAIR}"))


def only_float32(wrong):
    return Finding("MISTAKE", "float32_inside", (
        "right to float32 precision only: something inside (often the softmax) is computed in "
        "float32", f"in {shortened([run.case.id for run in wrong])}"))


def said(difference):
    """A difference in one line."""
    if difference.shapes:
        return "has shape {}, expected {}".format(*difference.shapes)
    place = ", ".join(map(str, difference.index))
    error = abs(difference.got - difference.expected)
    # Digits that are the same in both would hide how little it is.
    little = f", off by {error:.1e}" if error < 1e-4 * abs(difference.expected) else ""
    return (f"[{place}] is {difference.got:.9g}, right {difference.expected:.9g}{little} "
            f"({difference.count} of {difference.size} elements differ)")
