"""Two arrays, a tolerance per element: where they differ first and worst."""

from typing import NamedTuple

import numpy as np


class Difference(NamedTuple):
    """One array of one case that is not what it should be."""

    case: str
    name: str  # of the stage or gradient
    count: int  # elements outside their tolerance
    size: int
    index: tuple  # of the worst element
    got: float
    expected: float
    ratio: float  # worst |got - expected| / tolerance
    shapes: tuple = ()  # got and expected, if they differ


def tolerance(condition, dtype):
    """``u K + eta``: what correct code of that dtype may be off, elementwise."""
    information = np.finfo(dtype)
    return condition * (float(information.eps) / 2) + float(information.tiny)


def compare(case_id, name, got, expected, condition, dtype):
    """The difference between two arrays, or None if there is none.

    Parameters
    ----------
    case_id, name : str
        For the report.
    got, expected, condition : ndarray
        NaN matches nothing; equal infinities match.
    dtype : dtype
        In which `got` was computed.

    Returns
    -------
    Difference or None

    Examples
    --------
    >>> one = np.ones(3)
    >>> compare("demo", "output", np.array([1, 1, 1 + 1e-9]), one, one, np.float64).index
    (2,)
    >>> compare("demo", "output", np.array([1, 1, 1 + 1e-9]), one, one, np.float32) is None
    True
    """
    if np.shape(got) != expected.shape:
        return Difference(case_id, name, expected.size, expected.size, (), np.nan, np.nan, np.inf,
                          (np.shape(got), expected.shape))
    ratio = error_ratio(got, expected, tolerance(condition, dtype))
    if ratio.size == 0 or ratio.max() <= 1:
        return None
    index = tuple(int(position) for position in np.unravel_index(ratio.argmax(), ratio.shape))
    return Difference(
        case_id, name, int((ratio > 1).sum()), ratio.size, index, float(got[index]),
        float(expected[index]), float(ratio[index]),
    )


def error_ratio(got, expected, allowed):
    """|got - expected| / allowed, 0 for equal infinities, infinite for NaN."""
    got = np.asarray(got, dtype=float)
    with np.errstate(invalid="ignore", over="ignore"):
        ratio = np.where(got == expected, 0.0, abs(got - expected) / allowed)
    return np.where(np.isnan(ratio), np.inf, ratio)
