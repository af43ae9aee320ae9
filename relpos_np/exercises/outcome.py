"""What a function returned or raised, and whether two outcomes are the same."""

import contextlib
import copy
import sys
import warnings
from typing import NamedTuple

import numpy as np


class Raised(NamedTuple):
    """The function stopped."""

    error: Exception


class Returned(NamedTuple):
    """What came back, as arrays; `problem` says why it could not be read as such."""

    arrays: tuple
    problem: str = ""
    names: tuple = ()  # of the arrays, where it is the right answer


class Trial(NamedTuple):
    """One call of the student's function."""

    outcome: object  # Raised or Returned
    arguments: dict  # as they were before the call
    changed: tuple  # names of arguments that the function wrote into


def attempt(function, arguments, count):
    """Call `function` on copies of `arguments`, warnings off; `count` results are expected.

    NotImplementedError passes through: it means that there is nothing to judge yet.
    """
    given = copy.deepcopy(arguments)
    try:
        # Standard error is for wrong answers alone: what the function writes there moves over.
        with quiet(), contextlib.redirect_stderr(sys.stdout):
            outcome = read(function(*given.values()), count)
    except NotImplementedError:
        raise
    except Exception as error:  # whatever a student's code raises is an answer
        outcome = Raised(error)
    changed = tuple(name for name in given if not same_value(given[name], arguments[name]))
    return Trial(outcome, arguments, changed)


@contextlib.contextmanager
def quiet():
    """No warnings of NumPy or others."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def same_value(now, before):
    """Whether an argument is still what it was; a cache is compared field by field."""
    if isinstance(before, tuple):
        return all(map(same_value, now, before))
    if before is None or callable(before):
        return True
    return np.array_equal(now, before, equal_nan=np.asarray(before).dtype.kind in "fc")


def read(result, count):
    """A result as arrays."""
    if result is None:
        return Returned((), "your function returns nothing: is there a return?")
    parts = (result,) if count == 1 else result
    if count > 1 and not (isinstance(parts, tuple | list) and len(parts) == count):
        return Returned((), f"your function must return {count} arrays, in the order asked for")
    try:
        arrays = tuple(np.asarray(part) for part in parts)
    except ValueError:  # rows of different lengths
        return Returned((), "your result is no array: its rows have different lengths")
    for array in arrays:
        if array.dtype.kind not in "biufc":
            return Returned((), f"your result must be numbers, it is {array.dtype}")
    return Returned(arrays)


def same(one, other):
    """Whether two outcomes are the same up to rounding; of errors, the kind counts."""
    if isinstance(one, Raised) or isinstance(other, Raised):
        return type(one) is type(other) and type(one.error) is type(other.error)
    if one.problem or other.problem or len(one.arrays) != len(other.arrays):
        return False
    return all(a.shape == b.shape and not needs_integers(a, b) and close(a, b).all()
               for a, b in zip(one.arrays, other.arrays, strict=True))


def needs_integers(got, want):
    """Whether integers were asked for, such as table rows, and something else came."""
    return want.dtype.kind in "iu" and got.dtype.kind not in "iu"


def close(one, other):
    """Elementwise: equal up to what float32 costs, even if it was only used on the way."""
    single = np.float32 in (one.dtype, other.dtype)
    one, other = (a.astype(float) if a.dtype.kind == "b" else a for a in (one, other))
    finite = np.abs(other[np.isfinite(other)])
    scale = max(1.0, finite.max(initial=0.0))
    return np.isclose(one, other, rtol=0, atol=(2e-4 if single else 1e-5) * scale, equal_nan=True)
