"""All exercises, in order."""

from relpos_np.exercises import backward, bugs, fast, gradients, positions, scores, values

NOTEBOOKS = {
    1: "positions and tables",
    2: "logits, scale, mask, softmax",
    3: "values, and from the double loop to einsum",
    4: "backward",
    5: "gradient checking",
    6: "make it fast, find the bug",
}

# Those in which a function is written, and those in which inputs are designed.
WRITTEN = (
    *positions.EXERCISES, *scores.EXERCISES, *values.EXERCISES,
    *backward.EXERCISES, *gradients.EXERCISES, *fast.EXERCISES,
)
EXERCISES = (*WRITTEN, *bugs.HUNTS)


def find(number):
    """The exercise of that number.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> find("1.1").title
    'relative positions'
    """
    for exercise in EXERCISES:
        if exercise.number == number:
            return exercise
    numbers = [e.number for e in EXERCISES if str(e.notebook) == number.partition(".")[0]]
    raise ValueError(f"no exercise {number}: " + (
        f"notebook {numbers[0][0]} has {', '.join(numbers)}" if numbers else
        f"they go from {EXERCISES[0].number} to {EXERCISES[-1].number}"))
