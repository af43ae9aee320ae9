"""Derivatives without a derivative formula: complex step, central differences, Taylor remainder.

The number that is differentiated is always ``L(inputs) = sum(grad_output * function(**inputs))``,
for any function of arrays.
"""

import numpy as np


def complex_step_gradient(function, inputs, name, grad_output, step=1e-100):
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
    step : float

    Returns
    -------
    ndarray, the shape of the input

    Raises
    ------
    TypeError
        If the function loses the imaginary part and returns real numbers.
    """
    gradient = np.zeros(inputs[name].shape)
    perturbed = inputs[name].astype(complex)
    for index in np.ndindex(gradient.shape):
        perturbed[index] += 1j * step
        output = function(**{**inputs, name: perturbed})
        if not np.iscomplexobj(output):
            raise TypeError(
                f"the function returned {output.dtype} for a complex {name}: a step of it drops "
                f"the imaginary part, so use method='central differences' for it"
            )
        gradient[index] = np.sum(grad_output * output).imag / step
        perturbed[index] = inputs[name][index]
    return gradient


def central_difference_gradient(function, inputs, name, grad_output, step=6e-6):
    """Gradient of L by one input from ``(L(x + h) - L(x - h)) / 2h`` per element.

    The truncation error falls with h^2, the rounding error grows with 1/h; about the cube root
    of the unit roundoff, 6e-6, balances them. Parameters and result as in
    `complex_step_gradient`.
    """
    gradient = np.zeros(inputs[name].shape)
    perturbed = inputs[name].astype(float)
    for index in np.ndindex(gradient.shape):
        perturbed[index] = inputs[name][index] + step
        above = np.sum(grad_output * function(**{**inputs, name: perturbed}))
        perturbed[index] = inputs[name][index] - step
        below = np.sum(grad_output * function(**{**inputs, name: perturbed}))
        gradient[index] = (above - below) / (2 * step)
        perturbed[index] = inputs[name][index]
    return gradient


def taylor_slope(function, inputs, gradients, grad_output, rng):
    """Order at which ``|L(x + h p) - L(x) - h p . gradient|`` falls with h: 2 right, 1 wrong.

    One random direction p through all arrays of `gradients` at once; needs no derivative and no
    complex numbers, only forward passes.

    Parameters
    ----------
    function, inputs, gradients, grad_output
        As in `check_gradients`.
    rng : numpy.random.Generator
        Draws the direction.

    Returns
    -------
    float
        The slope between the two smallest steps whose remainder still stands clear of rounding;
        infinity if none does, as for a linear function with its right gradient.

    Examples
    --------
    >>> x, one, rng = np.array([1.0, 2.0]), np.ones(2), np.random.default_rng(0)
    >>> round(taylor_slope(lambda x: x**3, {"x": x}, {"x": 3 * x**2}, one, rng), 1)
    2.0
    >>> round(taylor_slope(lambda x: x**3, {"x": x}, {"x": 3.01 * x**2}, one, rng), 1)
    1.0
    """
    direction = {name: rng.normal(size=inputs[name].shape) for name in gradients}
    slope = sum(np.sum(gradients[name] * direction[name]) for name in gradients)

    def loss(step):
        moved = {name: inputs[name] + step * direction[name] for name in gradients}
        return np.sum(grad_output * function(**{**inputs, **moved}))

    at_zero = loss(0.0)
    rounding = 1e4 * np.finfo(float).eps * (abs(at_zero) + np.sum(np.abs(grad_output)))
    steps = [2.0**-exponent for exponent in range(4, 40)]
    remainders = [abs(loss(step) - at_zero - step * slope) for step in steps]
    clear = [remainder for remainder in remainders if remainder > rounding]
    return float(np.log2(clear[-2] / clear[-1])) if len(clear) > 1 else np.inf
