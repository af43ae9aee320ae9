"""Is a gradient right? The verdict on any function of arrays. Knows nothing of attention.

The question is always about one number, ``L(inputs) = sum(grad_output * function(**inputs))``,
because a backward pass computes the gradient of exactly that.
"""

import numpy as np

from relpos_np.gradcheck_report import GradcheckReport, worst_element
from relpos_np.numerical_gradient import (
    DIFFERENCE_STEP,
    central_difference_gradient,
    complex_step_gradient,
    loss,
)


def check_gradients(
    function, inputs, gradients, grad_output, *, method="complex step", tolerance=None
):
    """Compare gradients, element by element, with numerical ones of the forward function.

    Parameters
    ----------
    function : callable
        Called as ``function(**inputs)``, returns one array. For the complex step it must be
        analytic: no abs, no conjugate, no conversion to real.
    inputs : dict of str to ndarray of float64
        Arguments that are None are passed on.
    gradients : dict of str to ndarray
        What is to be judged; the names are those of `inputs`, all or some. None is skipped.
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
        If the method or a name is unknown, a shape does not fit, there is nothing to check, or
        the complex step cannot be trusted because the function is not analytic.
    TypeError
        If something is not a real array, or the inputs are not float64: a difference of float32
        numbers has no digits left.

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
    gradients = {name: gradient for name, gradient in gradients.items() if gradient is not None}
    refuse_senseless(function, inputs, gradients, grad_output, tolerance)
    errors = []
    for name, got in gradients.items():
        expected = numerical_gradient(function, inputs, name, grad_output)
        if method == "complex step":
            refuse_not_analytic(function, inputs, name, grad_output, expected)
        errors.append(worst_element(name, np.asarray(got), expected))
    return GradcheckReport(method=method, tolerance=tolerance, errors=tuple(errors))


def refuse_senseless(function, inputs, gradients, grad_output, tolerance):
    """Refuse a question whose answer would mean nothing."""
    if not gradients:
        raise ValueError("there is no gradient to check: `gradients` is empty")
    if not 0 < tolerance < np.inf:
        raise ValueError(f"tolerance must be positive and finite, got {tolerance}")
    for name, array in inputs.items():
        if array is not None and getattr(array, "dtype", None) != np.float64:
            kind = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"input {name!r} is {kind}: gradients are checked in float64 arrays")
    for name, got in gradients.items():
        if inputs.get(name) is None:
            raise ValueError(f"gradient {name!r} has no input; inputs are {list(inputs)}")
        if np.shape(got) != inputs[name].shape:
            raise ValueError(
                f"gradient {name!r} has shape {np.shape(got)}, its input has {inputs[name].shape}"
            )
    for name, array in {**gradients, "grad_output": grad_output}.items():
        if not np.issubdtype(np.asarray(array).dtype, np.floating):
            raise TypeError(f"{name} has dtype {np.asarray(array).dtype}, not real numbers")
    output = function(**{n: a if a is None else a.copy() for n, a in inputs.items()})
    if isinstance(output, (tuple, list, dict)):
        raise TypeError(
            f"the function returns a {type(output).__name__}; it must return one array, such as "
            f"lambda **inputs: attention_forward(**inputs)[0]"
        )
    if np.shape(output) != np.shape(grad_output):
        raise ValueError(
            f"grad_output has shape {np.shape(grad_output)}, the output has {np.shape(output)}"
        )


def refuse_not_analytic(function, inputs, name, grad_output, expected):
    """Compare the complex step with a central difference along one direction.

    A conjugate, an abs or a cast to complex64 on the way would give a wrong answer without any
    other sign.
    """
    direction = np.random.default_rng(0).normal(size=expected.shape)
    above, below = (
        loss(function, {**inputs, name: inputs[name] + step * direction}, grad_output)
        for step in (DIFFERENCE_STEP, -DIFFERENCE_STEP)
    )
    by_difference = (above - below) / (2 * DIFFERENCE_STEP)
    by_step = np.sum(expected * direction)
    size = max(1.0, np.sum(np.abs(expected * direction)), abs(by_difference))
    if abs(by_difference - by_step) > 1e-3 * size:
        raise ValueError(
            f"along a random direction of {name}, the complex step gives {by_step:.6g} and a "
            f"central difference {by_difference:.6g}: the function is not analytic (a conjugate, "
            f"a real part, a cast to complex64?), so use method='central differences' for it"
        )


METHODS = {
    "complex step": (complex_step_gradient, 1e-13),
    "central differences": (central_difference_gradient, 1e-8),
}
