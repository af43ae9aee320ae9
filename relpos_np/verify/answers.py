"""What a candidate or its gradient function returned, as NumPy arrays by name."""

import contextlib
import inspect

import numpy as np


class Refused(Exception):
    """What came back is not an array that can be judged."""


def as_stages(answer):
    """A dict of arrays with "output" in it, from what the candidate returned.

    It may be the output alone, a dict of stages, (output, cache) with a NamedTuple or dict of
    stages, or (output, weights).

    Examples
    --------
    >>> as_stages((np.ones(1), {"weights": np.zeros(1)}))
    {'weights': array([0.]), 'output': array([1.])}
    """
    if isinstance(answer, tuple) and len(answer) == 2 and not hasattr(answer, "_asdict"):
        output, rest = answer
        rest = rest._asdict() if hasattr(rest, "_asdict") else rest
        answer = {**(rest if isinstance(rest, dict) else {"weights": rest}), "output": output}
    answer = answer._asdict() if hasattr(answer, "_asdict") else answer
    if not isinstance(answer, dict):
        return {"output": as_array(answer, "the output")}
    if "output" not in answer:
        raise Refused(f"it returned the stages {[*answer]}, and none is called 'output'")
    kept = {}
    for name, stage in answer.items():
        with contextlib.nullcontext() if name == "output" else contextlib.suppress(Refused):
            kept[name] = as_array(stage, "the output" if name == "output" else name)
    return kept


def as_gradients(answer, inputs):
    """A dict of arrays by input name, from a tuple in the order of the inputs, or a dict.

    Gradients that are None are left out, and those of inputs that were not given.
    """
    if hasattr(answer, "_asdict"):
        answer = answer._asdict()
    if not isinstance(answer, dict):
        answer = tuple(answer)
        extra = answer[len(inputs):]
        # The mask may have a gradient as long as it is None.
        if len(answer) < len(inputs) or any(grad is not None for grad in extra):
            raise Refused(f"it returned {len(answer)} gradients, expected {len(inputs)}: "
                          f"{', '.join(inputs)}")
        answer = dict(zip(inputs, answer, strict=False))
    unknown = set(answer) - set(inputs)
    if unknown:
        raise Refused(f"unknown gradient name {', '.join(map(repr, sorted(unknown)))}; use "
                      f"{', '.join(inputs)}")
    return {name: as_array(grad, f"the gradient of {name}") for name, grad in answer.items()
            if grad is not None and inputs[name] is not None}


def as_array(value, what):
    """`value` as a NumPy array of numbers, or `Refused` with the mend."""
    if getattr(value, "requires_grad", False):
        kind = type(value).__name__
        raise Refused(f"{what} is a {kind} that requires grad: return output.detach().numpy(), "
                      f"or say framework='torch'")
    if value is None:
        raise Refused("it returned None: is a return missing?" if what == "the output" else
                      f"{what} is None")
    if inspect.isgenerator(value) or inspect.iscoroutine(value):
        value.close()
        raise Refused(f"it returned a {type(value).__name__}: make it a plain function, without "
                      f"yield and async")
    if isinstance(value, list | tuple) or not hasattr(value, "__array__"):
        raise Refused(f"{what} is a {type(value).__name__}, not an array: "
                      f"return np.asarray(output)")
    array = np.array(value)
    if not np.issubdtype(array.dtype, np.number):
        raise Refused(f"{what} has dtype {array.dtype}, which holds no numbers")
    if array.dtype.kind == "c":
        raise Refused(f"{what} has dtype {array.dtype}: return output.real")
    return array
