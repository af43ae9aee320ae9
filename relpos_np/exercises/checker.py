"""The one mechanism behind every exercise: try, compare, and find the mistake that fits."""

import functools
import inspect
import tracemalloc
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from relpos_np.exercises import unknown, words
from relpos_np.exercises.exercise import known_mistakes, started
from relpos_np.exercises.outcome import Raised, Returned, attempt, quiet, same


class Answer(NamedTuple):
    """What the student is told: at most two lines, and a small grid."""

    right: bool
    lines: tuple
    grid: str = ""
    mistakes: tuple = ()  # names in the catalogue of what gives these very numbers

    def __str__(self):
        return "\n".join(filter(None, (*self.lines, self.grid)))


def judge(exercise, function, seed="0"):
    """Try the student's function in every situation of the exercise.

    Parameters
    ----------
    exercise : Exercise
    function : callable
        The student's. It gets copies, of the reference's own intermediates: what went wrong in
        an earlier exercise cannot reach it.
    seed : str
        Draws the inputs.

    Returns
    -------
    Answer

    Raises
    ------
    NotImplementedError
        If the function does: it is not written yet.

    Examples
    --------
    >>> from relpos_np.exercises.course import find
    >>> print(judge(find("1.3"), lambda clipped_position, k: clipped_position + k))
    1.3 right: clip(j - i, -k, k) + k
    Tried on 3 inputs. Your function differs from 6 usual mistakes.
    """
    if not callable(function):
        return Answer(False, words.not_a_function(exercise, function))
    starts = [started(exercise.start, situation, seed) for situation in exercise.situations]
    rights = [expected(exercise, x, {}) for x in starts]
    count, names = len(rights[0].arrays), exercise.takes(starts[0])
    if not accepts(function, len(names)):
        return Answer(False, words.other_arguments(exercise, function, names))
    trials = [attempt(function, exercise.takes(x), count) for x in starts]
    for trial in trials:
        if trial.changed:
            return Answer(False, words.changes_its_arguments(exercise, trial))
    wrong = [n for n, trial in enumerate(trials) if not same(trial.outcome, rights[n])]
    if not wrong:
        return too_large(exercise, function, starts[-1]) or Answer(
            True, words.right(exercise, len(visible_mistakes(exercise, seed))))
    first = wrong[0]
    outcomes = [trial.outcome for trial in trials]
    entries = (fitting(exercise, seed, outcomes, range(len(outcomes)))
               or cut_short(exercise, seed, outcomes, rights))
    if entries:
        lines = words.known(exercise, entries)
    elif len(entries := fitting(exercise, seed, outcomes, [first])) == 1:
        lines = words.known_here(exercise, entries)
    else:
        entries = []
        lines = unknown.unknown(exercise, function, trials[first], rights[first], starts[first])
    grid = unknown.picture(exercise, trials[first], rights[first])
    return Answer(False, lines, grid, tuple(entry.name for entry in entries))


def expected(exercise, x, change, reads=None):
    """What comes out of the steps of the exercise, some of them changed; all else is right."""
    y = SimpleNamespace(**vars(x))
    try:
        with np.errstate(all="ignore"):
            for step in exercise.steps:
                setattr(y, step.__name__, change.get(step.__name__, step)(y))
            result = (reads or exercise.gives)(y)
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        return Raised(error)
    parts = result if isinstance(result, dict) else {"your result": result}
    return Returned(tuple(np.asarray(part) for part in parts.values()), names=tuple(parts))


def with_mistake(exercise, x, entry):
    """What somebody who makes this mistake computes."""
    return expected(exercise, x, entry.change, dict(exercise.reads).get(entry.name))


@functools.lru_cache(maxsize=8)
def visible_mistakes(exercise, seed):
    """Pairs of a known mistake and its outcomes, for all that show on these inputs."""
    starts = [started(exercise.start, situation, seed) for situation in exercise.situations]
    rights = [expected(exercise, x, {}) for x in starts]
    answers = [(entry, [with_mistake(exercise, x, entry) for x in starts])
               for entry in known_mistakes(exercise)]
    return [(entry, answer) for entry, answer in answers if not all(map(same, answer, rights))]


def fitting(exercise, seed, outcomes, places):
    """The known mistakes that have these outcomes in the situations numbered `places`.

    Where outcomes are errors the kind of error must agree; errors alone say too little.
    """
    if all(isinstance(outcomes[n], Raised) for n in places):
        return []
    return [entry for entry, answers in visible_mistakes(exercise, seed)
            if all(same(outcomes[n], answers[n]) for n in places)]


def cut_short(exercise, seed, outcomes, rights):
    """The one known mistake with these outcomes, where the function stops in some; or nothing.

    A loop over a wrong index stops where an einsum gives a wrong shape or another error.
    """
    ran = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Returned)]
    if all(same(outcomes[n], rights[n]) for n in ran):
        return []
    stopped = [n for n in range(len(outcomes)) if n not in ran]
    answers = {entry.name: answer for entry, answer in visible_mistakes(exercise, seed)}
    entries = [entry for entry in fitting(exercise, seed, outcomes, ran)
               if all(breaks(answers[entry.name][n], rights[n]) for n in stopped)]
    return entries if len(entries) == 1 else []


def breaks(answer, right):
    """Whether an outcome is not even of the right shape."""
    return isinstance(answer, Raised) or any(
        a.shape != b.shape for a, b in zip(answer.arrays, right.arrays, strict=True))


def accepts(function, count):
    """Whether the function can be called with so many arguments, as far as it tells."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # no signature, as of some functions written in C
        pass
    return True


def too_large(exercise, function, x):
    """An answer if memory counts and the function holds too much in the last situation."""
    if exercise.memory is None:
        return None
    arguments = exercise.takes(x)
    tracemalloc.start()
    try:
        with quiet():
            function(*arguments.values())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    allowed = exercise.memory(x)
    return Answer(False, words.too_large(exercise, peak, allowed)) if peak > allowed else None
