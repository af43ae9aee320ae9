"""Find a candidate by its name, and call it in the way that its parameters ask for."""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np

from relpos_np.verify.one_line import one_line

POSITIONAL = "the next positional argument"
MASK_NAMES = ("mask", "attn_mask", "attention_mask")


def load_candidate(name):
    """The function of ``file.py:function`` or ``package.module:function``.

    Raises
    ------
    ValueError
        If the name has no colon, the file or module does not exist, cannot be imported, or has
        no such function. The message says which.
    """
    place, colon, function_name = name.rpartition(":")
    if not colon or not place:
        raise ValueError(
            f"{name!r} names no function: write file.py:function or package.module:function"
        )
    module = load_file(place) if place.endswith(".py") else load_module(place)
    function = module
    for part in function_name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        near = [key for key, value in vars(module).items()
                if callable(value) and not key.startswith("_")]
        raise ValueError(f"{place} has no function {function_name!r}; it has {', '.join(near)}")
    return function


def load_file(path):
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    # A port may import its neighbours, as it can when it is run as a script.
    sys.path.insert(0, str(path.resolve().parent))
    name = f"candidate_{path.stem}"  # so that torch.py, say, does not hide the real one
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        imported(str(path), lambda: spec.loader.exec_module(module))
    except ValueError as error:
        if "relative import" not in str(error):
            raise
        dotted = ".".join(path.resolve().with_suffix("").parts[-2:])
        raise ValueError(f"{error}; write {dotted}:FUNCTION, from the folder above") from error
    return module


def load_module(name):
    if "" not in sys.path:
        sys.path.insert(0, "")
    return imported(name, lambda: importlib.import_module(name))


def imported(place, load):
    """What `load` returns; its exceptions, whatever they are, as a ValueError."""
    try:
        return load()
    except BaseException as error:  # SystemExit and KeyboardInterrupt too
        raise ValueError(f"{place} could not be imported: {one_line(error)}") from error


def bind(candidate, case, dtype, first=()):
    """Positional and keyword arguments of a call: fresh arrays, a copy for every call.

    Parameters
    ----------
    candidate : callable
        Takes the inputs in order, then the mask. `query_start` (attention) and `num_heads`
        (layer) are given by keyword if it has parameters of these names.
    case : Case
    dtype : dtype of the inputs
    first : tuple
        What comes before the inputs: the upstream gradient for a backward.

    Returns
    -------
    list, dict
    """
    arrays = [None if a is None else a.astype(dtype) for a in (*first, *case.inputs.values())]
    mask = None if case.mask is None else np.broadcast_to(case.mask, mask_shape(case)).copy()
    offered = {"num_heads": case.num_heads} if case.num_heads else {
        "query_start": case.query_start}
    keywords = {name: value for name, value in offered.items() if takes(candidate, name)}
    mask_name = mask_parameter(candidate, len(arrays))
    if mask_name == POSITIONAL:
        arrays.append(mask)
    elif mask_name:
        keywords[mask_name] = mask
    return arrays, keywords


def mask_shape(case):
    """The mask in full, (b, h, i, j), so that no port has to broadcast it."""
    if case.num_heads:
        batch, length = case.inputs["x"].shape[:2]
        return (batch, case.num_heads, length, length)
    return (*case.inputs["query"].shape[:3], case.inputs["key"].shape[2])


def parameters_of(function):
    """The parameters of a function, or None if it does not tell (compiled code may not).

    An object that is called with anything and has a method `forward`, as a torch module is,
    passes it all on to that.
    """
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return None
    anything = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    forward = getattr(function, "forward", None)
    if callable(forward) and all(p.kind in anything for p in parameters):
        return parameters_of(forward)
    return parameters


def takes(function, name):
    """Whether a function takes a keyword of that name."""
    return any(parameter.name == name or parameter.kind == inspect.Parameter.VAR_KEYWORD
               for parameter in parameters_of(function) or ())


def mask_parameter(function, count):
    """Name of the parameter that takes the mask, `POSITIONAL`, or "" if there is none.

    It is one of `MASK_NAMES`, else one whose name contains "mask", else the first one left after
    `count` arrays.

    Examples
    --------
    >>> mask_parameter(lambda q, k, v, a, b, scale=1, attn_mask=None: None, count=5)
    'attn_mask'
    >>> mask_parameter(lambda q, k, v, a, b, query_start=0: None, count=5)
    ''
    """
    parameters = parameters_of(function)
    if parameters is None:
        return POSITIONAL
    kinds = inspect.Parameter
    named = [p.name for p in parameters if "mask" in p.name and p.kind != kinds.POSITIONAL_ONLY]
    if named:
        return next((name for name in MASK_NAMES if name in named), named[0])
    if any(p.kind == kinds.VAR_POSITIONAL for p in parameters):
        return POSITIONAL
    left = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY,
                                                kinds.POSITIONAL_OR_KEYWORD)][count:]
    left = [p for p in left if p.name not in ("query_start", "num_heads")]
    return POSITIONAL if left else ""


def guessed_mask(candidate, count):
    """In words, which parameter was given the mask, "" if its name leaves no doubt."""
    name = mask_parameter(candidate, count)
    if name == POSITIONAL:
        parameters = parameters_of(candidate) or ()
        name = parameters[count].name if len(parameters) > count else ""
    return "" if name in ("", *MASK_NAMES) else f"the mask was given to the parameter {name!r}"


def not_for(candidate, case):
    """Why this case cannot be put to the candidate, "" if it can."""
    if case.mask is not None and not mask_parameter(candidate, len(case.inputs)):
        return "the function has no parameter for a mask"
    if "query_start" in case.tags and not takes(candidate, "query_start"):
        return "the function has no parameter query_start"
    return ""
