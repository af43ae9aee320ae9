"""Two small tables of numbers, one under the other's names: the student's and the right ones."""

import numpy as np

from relpos_np.exercises.outcome import close

SIDE = 4  # rows and columns that are shown
CELL = 9


def first_difference(got, want):
    """Place of the first number that is wrong, or None."""
    wrong = ~close(got, want)
    return tuple(int(n) for n in np.argwhere(wrong)[0]) if wrong.any() else None


def compare_grid(got, want, letters, place):
    """A window of both arrays around `place`; wrong numbers carry a star.

    Parameters
    ----------
    got, want : ndarray, of one shape
    letters : str
        One per axis.
    place : tuple of int

    Returns
    -------
    str

    Examples
    --------
    >>> print(compare_grid(np.array([[0, 1], [1, 0]]), np.array([[0, 1], [-1, 0]]), "ij", (1, 0)))
    yours         j=0      j=1   right         j=0      j=1
      i=0           0        1                   0        1
      i=1          1*        0                  -1        0
    """
    if not letters:
        return f"yours {number(got)}, right {number(want)}"
    outer = place[:-2]
    got, want = np.atleast_2d(got[outer]), np.atleast_2d(want[outer])
    wrong = ~close(got, want)
    rows, columns = map(window, (0, 0, *place)[-2:], got.shape)
    row_letter, column_letter = ("", "", *letters)[-2:]
    head = row_of(label(column_letter, j) for j in columns)
    lines = [f"yours   {head}   right   {head}"]
    for i in rows:
        mine = row_of(number(got[i, j]) + "*" * bool(wrong[i, j]) for j in columns)
        theirs = row_of(number(want[i, j]) for j in columns)
        lines.append(f"  {label(row_letter, i):6}{mine}           {theirs}")
    if outer:
        lines.append("  at " + ", ".join(map(label, letters, outer)))
    return "\n".join(line.rstrip() for line in lines)


def row_of(cells):
    """Cells of one width, a space between them however long they are."""
    return "".join(" " + cell.rjust(CELL - 1) for cell in cells)


def label(letter, n):
    return f"{letter}={n}" if letter else ""


def window(centre, size):
    """At most SIDE indices around `centre`."""
    first = max(0, min(centre - 1, size - SIDE))
    return range(first, min(size, first + SIDE))


def number(value):
    """Three digits.

    >>> number(np.float64(0.123456)), number(np.int64(-3)), number(np.True_)
    ('0.123', '-3', 'True')
    """
    return str(value) if value.dtype.kind in "biu" else f"{value:.3g}"
