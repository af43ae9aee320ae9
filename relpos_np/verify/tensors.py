"""What the adapters of all frameworks share."""

import functools
import inspect

import numpy as np

from relpos_np.verify.candidate import parameters_of


def on_arrays(convert, arguments, keywords):
    """Arguments with every NumPy array converted; None, lengths and flags stay."""
    def one(value):
        return convert(value) if isinstance(value, np.ndarray) else value

    return [one(value) for value in arguments], {name: one(v) for name, v in keywords.items()}


def first_output(answer):
    """The output itself, from a dict of stages or (output, more)."""
    if isinstance(answer, dict):
        return answer["output"]
    return answer[0] if isinstance(answer, tuple) else answer


def like_with_upstream(function, forward, grads):
    """Both adapted functions, with parameters named as those of `function`."""
    wraps = functools.wraps(function, updated=())
    forward, grads = wraps(forward), wraps(grads)
    parameters = parameters_of(function)
    if parameters is not None:
        upstream = inspect.Parameter("grad_output", inspect.Parameter.POSITIONAL_ONLY)
        forward.__signature__ = inspect.Signature(parameters)
        grads.__signature__ = inspect.Signature([upstream, *parameters])
    return forward, grads
