"""Candidates that take tensors of torch or JAX. Neither is imported before it is asked for."""

import functools
import importlib
import inspect

import numpy as np

ADAPTERS = {"torch": "torch_adapter", "jax": "jax_adapter"}


def adapt(candidate, grads, framework):
    """Candidate and gradient function on NumPy arrays, from a function of tensors.

    Parameters
    ----------
    candidate : callable
        Takes and returns tensors.
    grads : callable or None
        If None, the framework differentiates the candidate. Else a function on NumPy arrays.
    framework : {"torch", "jax"}

    Raises
    ------
    ValueError
        If the framework is not known or not installed.
    """
    if framework not in ADAPTERS:
        raise ValueError(f"framework must be one of {', '.join(ADAPTERS)}, got {framework!r}")
    try:
        adapter = importlib.import_module(f"relpos_np.verify.{ADAPTERS[framework]}")
    except ImportError as error:
        raise ValueError(f"{framework} cannot be imported here: {error}") from error
    forward, by_autograd = adapter.candidate_and_grads(candidate)
    return forward, grads or by_autograd


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
