"""The Taylor remainder: a gradient check that needs no derivative and no complex numbers."""

import numpy as np

from relpos_np.numerical_gradient import call, loss


def taylor_slope(function, inputs, gradients, grad_output, rng):
    """Order at which ``|L(x + h p) - L(x) - h p . gradient|`` falls with h: 2 right, 1 wrong.

    Halving h quarters what a right linear approximation leaves over, and only halves what a
    wrong one does. One random direction p goes through all arrays of `gradients` at once.

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
        infinity if none does, as for a linear function with its right gradient; NaN if the
        function or a gradient is.

    Raises
    ------
    ValueError
        If there is no gradient to check.

    Examples
    --------
    >>> x, one, rng = np.array([1.0, 2.0]), np.ones(2), np.random.default_rng(0)
    >>> round(taylor_slope(lambda x: x**3, {"x": x}, {"x": 3 * x**2}, one, rng), 1)
    2.0
    >>> round(taylor_slope(lambda x: x**3, {"x": x}, {"x": 3.01 * x**2}, one, rng), 1)
    1.0
    """
    gradients = {name: gradient for name, gradient in gradients.items() if gradient is not None}
    if not gradients:
        raise ValueError("there is no gradient to check: `gradients` is empty")
    direction = {name: rng.normal(size=inputs[name].shape) for name in gradients}
    products = [np.sum(gradients[name] * direction[name]) for name in gradients]
    sizes = [np.sum(np.abs(gradients[name] * direction[name])) for name in gradients]

    def loss_at(step):
        moved = {name: inputs[name] + step * direction[name] for name in gradients}
        return loss(function, {**inputs, **moved}, grad_output)

    at_zero = loss_at(0.0)
    terms = np.sum(np.abs(grad_output * call(function, inputs)))
    remainders = []
    for step in 2.0 ** -np.arange(4, 40):
        remainder = abs(loss_at(step) - at_zero - step * sum(products))
        # Rounding of the terms of L and of the linear term; 10,000 times that is clear of it.
        rounding = np.finfo(float).eps * (terms + step * sum(sizes))
        if not remainder <= 1e4 * rounding:
            remainders.append(remainder)
    return float(np.log2(remainders[-2] / remainders[-1])) if len(remainders) > 1 else np.inf
