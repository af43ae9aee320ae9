"""Exercises that know the mistake: ``check("2.3", my_function)``, ``hint("2.3")``, ``progress()``.

The inputs depend on the environment variable RELPOS_SEED, so that a teacher can give every
student other numbers.
"""

import os
import sys
import traceback

from relpos_np.exercises import kept, words
from relpos_np.exercises.checker import Answer, judge
from relpos_np.exercises.course import EXERCISES, NOTEBOOKS, find
from relpos_np.exercises.hunt import Hunt, chosen, judge_hunt, with_change

__all__ = ["check", "handed_out", "hint", "progress"]

SEED = "RELPOS_SEED"


def check(number, function=None):
    """Say whether a function does what exercise `number` asks, and if not, what it does instead.

    Parameters
    ----------
    number : str
        As in the notebook, "2.3".
    function : callable
        Yours.

    Raises
    ------
    NotImplementedError
        If the function is still the blank.

    Notes
    -----
    A right answer is printed to standard output, any other to standard error: it shows red in
    Jupyter, nothing stops, and nbgrader counts the cell as not passed.
    """
    if (exercise := found(number)) is None:
        return
    if function is None:
        print(f"Write {words.call(exercise)}.", file=sys.stderr)
        return
    seed = os.environ.get(SEED, "0")
    try:
        if isinstance(exercise, Hunt):
            answer = Answer(*judge_hunt(exercise, function, seed))
        else:
            answer = judge(exercise, function, seed)
    except NotImplementedError as error:
        raise blank(exercise, function, error) from None
    if not answer.right and (other := asked_elsewhere(exercise, function)):
        answer = Answer(False, words.another_function(exercise, other))
    print(answer, file=sys.stdout if answer.right else sys.stderr)
    if answer.right:  # what is solved stays solved
        keep(exercise.number, right=True)


def handed_out(number):
    """The function with a mistake that belongs to a "find the bug" exercise.

    Parameters
    ----------
    number : str
        "6.4" to "6.8".

    Returns
    -------
    callable
        Called like `relpos_np.attention_forward` but returns the output alone; that of "6.8" takes
        ``grad_output`` before the five inputs and returns their gradients.

    Raises
    ------
    ValueError
        If that exercise hands out nothing.
    """
    hunt = find(str(number))
    if not isinstance(hunt, Hunt):
        raise ValueError(f"exercise {number} hands out nothing: {hunt.title} is yours to write")
    return with_change(hunt, chosen(hunt, os.environ.get(SEED, "0")).change)


def hint(number):
    """Say a little more each time: where you are first, the formula or its code last."""
    if (exercise := found(number)) is None:
        return
    given = kept.load().get(exercise.number, {}).get("hints", 0)
    shown = min(given + 1, len(exercise.hints))
    print(f"{exercise.number} hint {shown} of {len(exercise.hints)}: {exercise.hints[shown - 1]}")
    keep(exercise.number, hints=shown)


def progress():
    """Show what is done, notebook by notebook, and the first exercise that is not."""
    done = kept.load()
    is_right = {e.number: done.get(e.number, {}).get("right", False) for e in EXERCISES}
    for notebook, title in NOTEBOOKS.items():
        numbers = [e.number for e in EXERCISES if e.notebook == notebook]
        marks = "".join("#" if is_right[number] else "." for number in numbers)
        print(f"{notebook}  {marks:9}{sum(map(is_right.get, numbers))} of {len(numbers)}  {title}")
    todo = next((e for e in EXERCISES if not is_right[e.number]), None)
    print(f"Next: {todo.number} {todo.title}" if todo else "All done.")
    print(f"(kept in {kept.FILE} of the current folder)")


def found(number):
    """The exercise, or None after saying which there are."""
    if callable(number):
        name = getattr(number, "__name__", "your_function")
        print(f'The number comes first: check("2.3", {name}).', file=sys.stderr)
        return None
    try:
        return find(str(number).strip())
    except ValueError as error:
        print(error, file=sys.stderr)


def asked_elsewhere(exercise, function):
    """The other exercise that the function is named for, or None."""
    name = getattr(function, "__name__", "")
    named = [e for e in EXERCISES if e.function == name]
    return named[0] if named and exercise not in named else None


def blank(exercise, function, error):
    """The error of what is not written yet; in a notebook it shows as one line."""
    raised_in = traceback.extract_tb(error.__traceback__)[-1].name
    if raised_in == getattr(function, "__name__", raised_in):
        text = f"{exercise.number} is not written yet: {exercise.title}"
    else:
        text = f"{exercise.number} needs {raised_in}, which is not written yet"
    told = NotImplementedError(text)
    # IPython asks an exception for this before it prints a traceback.
    told._render_traceback_ = lambda: [f"NotImplementedError: {text}"]
    return told


def keep(number, **changes):
    """Note it beside the notebook; a folder that cannot be written costs the note only."""
    try:
        kept.note(number, **changes)
    except OSError as error:
        print(f"(not noted for progress(): {error.strerror})")
