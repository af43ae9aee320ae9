"""Adam (Kingma and Ba 2015) for a dict of arrays, and the learning rate that rises, then falls."""

from typing import NamedTuple

import numpy as np

BETA_1, BETA_2, EPSILON = 0.9, 0.98, 1e-9  # Vaswani et al. 2017, section 5.3; Shaw et al. the same


class AdamState(NamedTuple):
    """Running means by parameter name, after `step` steps."""

    step: int
    mean: dict  # of the gradient
    square: dict  # of its square


def adam_start(parameters):
    """The state before the first step: all zeros."""
    zeros = {name: np.zeros_like(array) for name, array in parameters.items()}
    return AdamState(step=0, mean=zeros, square=dict(zeros))


def adam_step(parameters, grads, state, learning_rate):
    """One step downhill, each element with its own step size.

    Parameters
    ----------
    parameters, grads : dict of str to ndarray
        The same names and shapes.
    state : AdamState
    learning_rate : float

    Returns
    -------
    parameters : dict of str to ndarray
        New arrays. Nothing is changed in place, so that a step is done wholly or not at all.
    state : AdamState

    Raises
    ------
    ValueError
        If a parameter has no gradient, or a gradient no parameter.

    Notes
    -----
    Kingma and Ba 2015, algorithm 1. Both means start at 0, and dividing by ``1 - beta^step``
    corrects for that.

    Examples
    --------
    The first step has the size of the learning rate, whatever the size of the gradient:

    >>> start = {"w": np.array([1.0, 1.0])}
    >>> moved, _ = adam_step(start, {"w": np.array([0.003, -500.0])}, adam_start(start), 0.1)
    >>> moved["w"].round(6)
    array([0.9, 1.1])
    """
    if parameters.keys() != grads.keys():
        raise ValueError(
            f"parameters and gradients differ in {sorted(parameters.keys() ^ grads.keys())}: "
            f"each parameter needs one gradient"
        )
    step = state.step + 1
    new_parameters, mean, square = {}, {}, {}
    for name, grad in grads.items():
        mean[name] = BETA_1 * state.mean[name] + (1 - BETA_1) * grad
        square[name] = BETA_2 * state.square[name] + (1 - BETA_2) * grad**2
        unbiased_mean = mean[name] / (1 - BETA_1**step)
        unbiased_square = square[name] / (1 - BETA_2**step)
        update = unbiased_mean / (np.sqrt(unbiased_square) + EPSILON)
        new_parameters[name] = parameters[name] - learning_rate * update
    return new_parameters, AdamState(step=step, mean=mean, square=square)


def learning_rate_at(step, *, peak, warmup_steps, total_steps):
    """Linear rise to `peak` over the warm-up, then linear fall to 0 at the end.

    Parameters
    ----------
    step : int
        The step about to be taken, 1 .. total_steps.
    peak : float
    warmup_steps, total_steps : int

    Returns
    -------
    float

    Examples
    --------
    >>> [learning_rate_at(s, peak=1.0, warmup_steps=2, total_steps=6) for s in range(1, 7)]
    [0.5, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    rise = step / warmup_steps
    fall = (total_steps - step) / max(1, total_steps - warmup_steps)
    return peak * max(0.0, min(1.0, rise, fall))


