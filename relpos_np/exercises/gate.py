"""The gate: every exercise is given every mistake that it can know, and must name that one."""

from collections import Counter
from typing import NamedTuple

from relpos_np.exercises.checker import expected, judge, with_mistake
from relpos_np.exercises.exercise import known_mistakes, started
from relpos_np.exercises.outcome import Raised, same


class Verdict(NamedTuple):
    """What the checker says to somebody who makes one mistake in one exercise."""

    mistake: str
    kind: str  # "named", "shared" (others compute the same), "unseen" (computes the right thing)
    answer: object  # the Answer


def verdicts(exercise, seed="0"):
    """Make every known mistake in the exercise and collect what is answered.

    Returns
    -------
    list of Verdict

    Raises
    ------
    AssertionError
        If a mistake is taken for another one, or not recognised.
    """
    starts = [started(exercise.start, situation, seed) for situation in exercise.situations]
    rights = [expected(exercise, x, {}) for x in starts]
    result = []
    for entry in known_mistakes(exercise):
        outcomes = [with_mistake(exercise, x, entry) for x in starts]
        unseen = all(map(same, outcomes, rights))
        answer = judge(exercise, replay(outcomes), seed)
        assert answer.right == unseen, (exercise.number, entry.name)
        assert unseen or entry.name in answer.mistakes, (exercise.number, entry.name, answer)
        kind = "unseen" if unseen else "named" if len(answer.mistakes) == 1 else "shared"
        result.append(Verdict(entry.name, kind, answer))
    return result


def replay(outcomes):
    """A function that returns, or raises, one outcome after the other, whatever it is given."""
    waiting = iter([*outcomes, outcomes[-1]])

    def function(*_):
        outcome = next(waiting)
        if isinstance(outcome, Raised):
            raise outcome.error
        return outcome.arrays if len(outcome.arrays) > 1 else outcome.arrays[0]

    return function


def grid(judged):
    """The counts of all exercises as a table.

    Parameters
    ----------
    judged : iterable of (exercise, list of Verdict)

    Examples
    --------
    >>> from relpos_np.exercises.course import find
    >>> print(grid([(find("1.3"), verdicts(find("1.3")))]))
                                                named  shared  unseen
    1.3  table row                                  6       0       0
         all exercises                              6       0       0
    """
    kinds = ("named", "shared", "unseen")
    lines, total = [" " * 40 + "".join(f"{kind:>8}" for kind in kinds)], Counter()
    for exercise, verdicts_of_it in judged:
        count = Counter(verdict.kind for verdict in verdicts_of_it)
        total += count
        lines.append(line(f"{exercise.number}  {exercise.title}", count, kinds))
    return "\n".join([*lines, line("     all exercises", total, kinds)])


def line(title, count, kinds):
    return f"{title:40}" + "".join(f"{count[kind]:8}" for kind in kinds)
