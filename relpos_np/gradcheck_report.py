"""What a gradient check found: the worst element of each array, in numbers and in words."""

from typing import NamedTuple

import numpy as np


class GradientError(NamedTuple):
    """The worst element of one array."""

    name: str
    index: tuple
    got: float
    expected: float
    error: float  # |got - expected| / max(1, the largest |expected| of the array)


class GradcheckReport(NamedTuple):
    """One line per array, and whether all stay within the tolerance."""

    method: str
    tolerance: float
    errors: tuple

    @property
    def passed(self):
        """True if every array is within the tolerance."""
        # `not >` would let NaN through; NaN is never <=.
        return all(entry.error <= self.tolerance for entry in self.errors)

    def __str__(self):
        lines = [f"gradient check by {self.method}, tolerance {self.tolerance:.0e}"]
        for name, index, got, expected, error in self.errors:
            verdict = "ok   " if error <= self.tolerance else "WRONG"
            lines.append(
                f"  {verdict} {name}: worst error {error:.1e} at {index}, "
                f"got {got:.17g}, expected {expected:.17g}"
            )
        return "\n".join(lines)

    def assert_ok(self):
        """Raise AssertionError with the whole report if an array is wrong."""
        if not self.passed:
            raise AssertionError(str(self))


def worst_element(name, got, expected):
    """The element that is furthest off, NaN counting as furthest."""
    if got.size == 0:
        return GradientError(name, (), 0.0, 0.0, 0.0)
    difference = np.where(np.isnan(got) | np.isnan(expected), np.inf, np.abs(got - expected))
    index = tuple(int(i) for i in np.unravel_index(np.argmax(difference), got.shape))
    # Never below 1: a gradient can be exactly zero (that of a key table with k = 0 is), and then
    # only rounding would be left to compare with.
    scale = max(1.0, np.abs(expected).max())
    error = float(difference[index] / scale)
    return GradientError(name, index, float(got[index]), float(expected[index]), error)
