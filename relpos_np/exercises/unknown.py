"""None of the known mistakes: what was seen first, and the numbers around it."""

import textwrap

import numpy as np

from relpos_np.exercises.cells import CELLS
from relpos_np.exercises.errors import line_of, meaning
from relpos_np.exercises.grid import compare_grid, first_difference, number
from relpos_np.exercises.outcome import Raised, needs_integers
from relpos_np.exercises.words import WIDTH, two_lines


def unknown(exercise, function, trial, right, x):
    """Two lines on the first thing that is wrong; `x` are the reference's stages."""
    begin = f"{exercise.number} not yet: "
    outcome = trial.outcome
    if isinstance(outcome, Raised):
        where = f" in {line}" if (line := line_of(outcome.error, function)) else ""
        return two_lines(f"{begin}{type(outcome.error).__name__}{where}",
                         meaning(outcome.error, function))
    more = f'hint("{exercise.number}") says more.'
    if outcome.problem:
        return two_lines(f"{begin}{outcome.problem}", more)
    for got, want, name, letters in compared(exercise, outcome, right):
        if got.shape != want.shape:
            axes = f" = ({', '.join(letters)})" if letters else ""
            return two_lines(f"{begin}{name} has shape {got.shape}, it must be {want.shape}{axes}",
                             more)
        if said := wrong_kind(got, want):
            return two_lines(f"{begin}{name} is {got.dtype}, it must be {said[0]}", said[1])
    name, letters, _, want, place = first_wrong(exercise, outcome, right)
    at = ", ".join(f"{letter}={n}" for letter, n in zip(letters, place, strict=True))
    cell = ""
    if exercise.number in CELLS:
        cell = f"There it must be {CELLS[exercise.number](x, *place)} = {number(want[place])}. "
    return two_lines(
        f"{begin}{name} is not what was asked for{', first at ' + at if at else ''}",
        f"Not a usual mistake. {cell}{more}",
    )


def wrong_kind(got, want):
    """What the numbers must be and how they come to be so, or None if their kind is right."""
    if needs_integers(got, want):
        return "integers", ("If you fill an array in a loop, make it with "
                            "np.zeros(shape, dtype=int).")
    if want.ndim and want.dtype.kind == "f" and got.dtype.kind in "iu":
        return "floats", ("An array of integers cuts what is put into it: make it with "
                          "np.zeros(shape).")
    return None


def picture(exercise, trial, right):
    """The grid around the first wrong number, where there is one, and the arguments."""
    outcome, called = trial.outcome, called_with(trial)
    if isinstance(outcome, Raised) or outcome.problem or any(
            got.shape != want.shape or wrong_kind(got, want)
            for got, want in zip(outcome.arrays, right.arrays, strict=True)):
        return called
    _, letters, got, want, place = first_wrong(exercise, outcome, right)
    return f"{compare_grid(got, want, letters, place)}\n{called}"


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
        f"{name} {argument.shape}" if np.ndim(argument) else f"{name} {argument}"
        for name, argument in trial.arguments.items()
        if not callable(argument) and not isinstance(argument, tuple)
    ]
    return textwrap.fill(f"Called with {', '.join(told)}.", WIDTH)
