"""Derivatives without a derivative formula: the complex step and central differences.

The number that is differentiated is always ``L(inputs) = sum(grad_output * function(**inputs))``,
for any function of arrays.
"""

import numpy as np

COMPLEX_STEP = 1e-100
# The cube root of the machine epsilon: the truncation error, falling with the step squared, and
# the rounding error, growing with its inverse, are then about equal.
DIFFERENCE_STEP = 6e-6


def complex_step_gradient(function, inputs, name, grad_output):
    """Gradient of L by one input, from one imaginary step per element.

    ``L(x + i h) = L(x) + i h L'(x) + O(h^2)``: the imaginary part holds the derivative and no
    difference of nearly equal numbers is taken, so h can be so small that only rounding is left
    (Squire and Trapp 1998).

    Parameters
    ----------
    function, inputs, grad_output
        As in `check_gradients`.
    name : str
        The input whose gradient is wanted.

    Returns
    -------
    ndarray, the shape of the input

    Raises
    ------
    TypeError
        If the function loses the imaginary part and returns real numbers.

    Examples
    --------
    >>> cube, x = (lambda x: x**3), np.array([1.0, 2.0])
    >>> complex_step_gradient(cube, {"x": x}, "x", np.array([1.0, 10.0]))
    array([  3., 120.])
    """
    gradient = np.zeros(inputs[name].shape)
    for index in np.ndindex(gradient.shape):
        moved = inputs[name].astype(complex)
        moved[index] += 1j * COMPLEX_STEP
        output = call(function, {**inputs, name: moved})
        if not np.iscomplexobj(output):
            raise TypeError(
                f"the function returned {output.dtype} for a complex {name}: a step of it drops "
                f"the imaginary part, so use method='central differences' for it"
            )
        gradient[index] = np.sum(grad_output * output).imag / COMPLEX_STEP
    return gradient


def central_difference_gradient(function, inputs, name, grad_output):
    """Gradient of L by one input from ``(L(x + h) - L(x - h)) / 2h`` per element.

    Parameters and result as in `complex_step_gradient`. Large elements take larger steps: h is
    relative to x above 1.

    Examples
    --------
    >>> cube, x = (lambda x: x**3), np.array([1.0, 2.0])
    >>> central_difference_gradient(cube, {"x": x}, "x", np.array([1.0, 10.0])).round(6)
    array([  3., 120.])
    """
    gradient = np.zeros(inputs[name].shape)
    for index in np.ndindex(gradient.shape):
        step = DIFFERENCE_STEP * max(1.0, abs(inputs[name][index]))
        above, below = inputs[name].copy(), inputs[name].copy()
        above[index] += step
        below[index] -= step
        difference = loss(function, {**inputs, name: above}, grad_output) - loss(
            function, {**inputs, name: below}, grad_output
        )
        gradient[index] = difference / (above[index] - below[index])
    return gradient


def call(function, inputs):
    """``function(**inputs)`` as an array, on copies: one that writes into them does no harm."""
    copies = {name: array if array is None else array.copy() for name, array in inputs.items()}
    return np.asarray(function(**copies))


def loss(function, inputs, grad_output):
    """The number L that is differentiated."""
    return np.sum(grad_output * call(function, inputs))
