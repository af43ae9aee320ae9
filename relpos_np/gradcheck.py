"""Is a gradient right? The verdict on any function of arrays. Knows nothing of attention.

The question is always about one number, ``L(inputs) = sum(grad_output * function(**inputs))``,
because a backward pass computes the gradient of exactly that.
"""

from typing import NamedTuple

import numpy as np

from relpos_np.numerical_gradient import central_difference_gradient, complex_step_gradient


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


def check_gradients(
    function, inputs, gradients, grad_output, *, method="complex step", tolerance=None
):
    """Compare gradients, element by element, with numerical ones of the forward function.

    Parameters
    ----------
    function : callable
        Called as ``function(**inputs)``, returns one array. For the complex step it must be
        analytic: no abs, no comparison of complex numbers, no conversion to real.
    inputs : dict of str to ndarray of float64
    gradients : dict of str to ndarray
        What is to be judged; the names are those of `inputs`, all or some.
    grad_output : ndarray, the shape of the function's output
        Upstream gradient. Random numbers: ones would hide errors that sum to zero.
    method : {"complex step", "central differences"}
    tolerance : float, optional
        1e-13 for the complex step, 1e-8 for central differences; relative to the largest
        element of each gradient, absolute where that is below 1.

    Returns
    -------
    GradcheckReport

    Raises
    ------
    ValueError
        If the method is unknown, a name is not among the inputs, or a shape is not its input's.

    Examples
    --------
    >>> x = np.array([1.0, 2.0])
    >>> report = check_gradients(lambda x: x**2, {"x": x}, {"x": [6.0, 21.0]}, np.array([3.0, 5.0]))
    >>> print(report)
    gradient check by complex step, tolerance 1e-13
      WRONG x: worst error 5.0e-02 at (1,), got 21, expected 20
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
    numerical_gradient, default_tolerance = METHODS[method]
    tolerance = default_tolerance if tolerance is None else tolerance
    errors = []
    for name, got in gradients.items():
        if name not in inputs:
            raise ValueError(f"gradient {name!r} has no input; inputs are {list(inputs)}")
        if np.shape(got) != inputs[name].shape:
            raise ValueError(
                f"gradient {name!r} has shape {np.shape(got)}, its input has {inputs[name].shape}"
            )
        expected = numerical_gradient(function, inputs, name, grad_output)
        errors.append(worst_element(name, np.asarray(got), expected))
    return GradcheckReport(method=method, tolerance=tolerance, errors=tuple(errors))


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


METHODS = {
    "complex step": (complex_step_gradient, 1e-13),
    "central differences": (central_difference_gradient, 1e-8),
}
