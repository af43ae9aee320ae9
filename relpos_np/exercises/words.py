"""What is said to the student: two lines that fit a notebook, then a small grid."""

import linecache
import re
import traceback

from relpos_np.exercises.grid import compare_grid, first_difference
from relpos_np.exercises.outcome import Raised, needs_integers

WIDTH = 110


def two_lines(first, second):
    """Both cut to the width, at a sentence or clause where there is one."""
    return fit(first), fit(second)


def fit(text, width=WIDTH):
    """As many whole sentences as fit; of a first sentence that is too long, whole clauses.

    >>> fit("Right for lengths up to k+1. Then outside the table.", 30)
    'Right for lengths up to k+1.'
    >>> fit("The axes are exchanged: rows are read as columns.", 30)
    'The axes are exchanged.'
    """
    text = " ".join(str(text).split())
    for separator, mark in ((r"(?<=[\w)'\"][.!?]) ", ""), (r"[:;,] ", ".")):
        parts = re.split(f"({separator})", text)
        for end in range(len(parts), 0, -2):
            kept = "".join(parts[:end])
            if len(kept) + len(mark) <= width:
                return kept if end == len(parts) else kept + mark
    return text[: width - 3].rsplit(" ", 1)[0] + " .."


def known(exercise, entries):
    """What the student has, and why it is wrong; several, if no input of the exercise differs."""
    one, *others = (wrote(exercise, entry) for entry in entries)
    because = entries[0].why
    if others:
        because = f"Or: {' or '.join(others)}. On these inputs it is the same."
    return two_lines(f"{exercise.number} not yet. You have: {one}", because)


def known_here(exercise, entries):
    """The first wrong input fits a known mistake, another does not: there are two mistakes."""
    first, second = known(exercise, entries)
    return fit(first.replace("not yet. You", "not yet. Here you")), fit(
        f"Other inputs show that there is more. {second}")


def wrote(exercise, entry):
    """The mistake's formula, less the steps that the exercise does not ask for."""
    text = entry.wrote
    for part, instead in exercise.shortened:
        text = text.replace(part, instead)
    return text


def right(exercise, count):
    return two_lines(
        f"{exercise.number} right: {exercise.asks}",
        f"Tried on {len(exercise.situations)} inputs. {count} known mistakes would have shown.",
    )


def not_a_function(exercise, function):
    return two_lines(
        f"{exercise.number} not yet: check needs your function, it got a {type(function).__name__}",
        f'Write check("{exercise.number}", name_of_your_function), without calling it.',
    )


def changes_its_arguments(exercise, trial):
    return two_lines(
        f"{exercise.number} not yet: your function changes its argument {trial.changed[0]}",
        "Whoever called it still needs that array. Work on a copy, or make a new array.",
    )


def too_large(exercise, peak, allowed):
    return two_lines(
        f"{exercise.number} not yet: the numbers are right, the memory is not",
        f"Your function holds {peak:,} bytes at once; without a vector per pair it is less than "
        f"{allowed:,}.",
    )


def unknown(exercise, function, trial, right):
    """No known mistake: say what was seen first."""
    begin = f"{exercise.number} not yet: "
    outcome = trial.outcome
    if isinstance(outcome, Raised):
        error = outcome.error
        where = f" in {line}" if (line := line_of(error, function)) else ""
        message = str(error).splitlines()[0] if str(error) else "no message"
        return two_lines(f"{begin}{type(error).__name__}{where}", message)
    if outcome.problem:
        return two_lines(f"{begin}{outcome.problem}", called_with(trial))
    for got, want, name, letters in compared(exercise, outcome, right):
        if got.shape != want.shape:
            axes = f" = ({', '.join(letters)})" if letters else ""
            return two_lines(f"{begin}{name} has shape {got.shape}, it must be {want.shape}{axes}",
                             called_with(trial))
        if needs_integers(got, want):
            return two_lines(f"{begin}{name} is {got.dtype}, it must be whole numbers",
                             "They number the rows of a table: nothing is divided here.")
    name, letters, got, want, place = first_wrong(exercise, outcome, right)
    at = ", ".join(f"{letter}={n}" for letter, n in zip(letters, place, strict=True))
    return two_lines(
        f"{begin}{name} is not what was asked for{', first at ' + at if at else ''}",
        f"No known mistake gives these numbers. {called_with(trial)}",
    )


def picture(exercise, trial, right):
    """The grid around the first wrong number, or "" where there is none to show."""
    outcome = trial.outcome
    if isinstance(outcome, Raised):
        return fit(called_with(trial), 2 * WIDTH)
    if outcome.problem or any(got.shape != want.shape or needs_integers(got, want)
                              for got, want in zip(outcome.arrays, right.arrays, strict=True)):
        return ""
    _, letters, got, want, place = first_wrong(exercise, outcome, right)
    return compare_grid(got, want, letters, place)


def first_wrong(exercise, outcome, right):
    """Name, axis letters, both arrays and the place of the first number that is wrong."""
    for got, want, name, letters in compared(exercise, outcome, right):
        place = first_difference(got, want)
        if place is not None:
            return name, letters, got, want, place
    raise AssertionError("nothing is wrong")  # not reached: only wrong outcomes come here


def compared(exercise, outcome, right):
    """Each array that came back beside the right one, with its name and axis letters."""
    letters = exercise.axes.split() or [""]
    return zip(outcome.arrays, right.arrays, right.names, letters, strict=True)


def called_with(trial):
    """The shapes of the arguments, or the small numbers themselves."""
    told = [
        f"{name} {argument.shape}" if getattr(argument, "ndim", 0) else f"{name} {argument}"
        for name, argument in trial.arguments.items()
        if not callable(argument) and not isinstance(argument, tuple)
    ]
    return f"Called with {', '.join(told)}."


def line_of(error, function):
    """The student's own line in which an error arose, quoted; "" if it arose elsewhere."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename == code.co_filename]
    if not frames:
        return ""
    line = frames[-1].line or linecache.getline(frames[-1].filename, frames[-1].lineno)
    return f"line {frames[-1].lineno}, {line.strip()}"
