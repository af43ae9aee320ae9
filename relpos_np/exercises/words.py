"""What is said to the student: two lines that fit a notebook, then a small grid."""

import inspect
import re

WIDTH = 110
LOGITS = ("content_logits", "relative_logits", "scaled_logits")  # the steps of equation (5)


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
    one, *others = dict.fromkeys(entry.wrote for entry in entries)
    because = entries[0].why
    if others:
        because = f"Or: {' or '.join(others)}. On these inputs it is the same."
    return two_lines(f"{exercise.number} not yet. {have(exercise, entries[0])}: {one}", because)


def have(exercise, entry):
    """What the formula of a mistake is to the student who wrote more than this step."""
    asks_more = exercise.steps[-1].__name__ not in LOGITS
    return "Your scores" if asks_more and entry.stage in LOGITS else "You have"


def known_here(exercise, entries):
    """The first wrong input fits a known mistake, another does not: there are two mistakes."""
    first, second = known(exercise, entries)
    return fit(first.replace("not yet. You", "not yet. Here you")), fit(
        f"Other inputs show that there is more. {second}")


def right(exercise, count):
    return two_lines(
        f"{exercise.number} right: {exercise.asks}",
        f"Tried on {len(exercise.situations)} inputs. "
        f"Your function differs from {count} usual mistakes.",
    )


def not_a_function(exercise, function):
    return two_lines(
        f"{exercise.number} not yet: check needs your function, it got a {type(function).__name__}",
        f"Write {call(exercise)}, the function without calling it.",
    )


def other_arguments(exercise, function, names):
    """The function cannot be called with these arguments."""
    given = ", ".join(inspect.signature(function).parameters)
    return two_lines(
        f"{exercise.number} not yet: it expects {exercise.function}({', '.join(names)})",
        f"You passed {getattr(function, '__name__', 'a function')}({given}).",
    )


def another_function(exercise, other):
    """What was passed is what another exercise asks for."""
    return two_lines(
        f"{exercise.number} not yet: you passed {other.function}, the function of {other.number}",
        f"Write {call(exercise)}.",
    )


def call(exercise):
    """The check as it is typed."""
    return f'check("{exercise.number}", {exercise.function})'


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
