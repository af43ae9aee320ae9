"""What the adapters of all frameworks share."""

import functools
import inspect

import numpy as np


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
    forward, grads = functools.wraps(function)(forward), functools.wraps(function)(grads)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return forward, grads
    upstream = inspect.Parameter("grad_output", inspect.Parameter.POSITIONAL_ONLY)
    grads.__signature__ = signature.replace(
        parameters=[upstream, *signature.parameters.values()])
    return forward, grads
