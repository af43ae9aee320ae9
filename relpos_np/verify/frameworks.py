"""Candidates that take tensors of torch or JAX. Neither is imported before it is asked for."""

from relpos_np.verify import jax_adapter, torch_adapter

ADAPTERS = {"torch": torch_adapter, "jax": jax_adapter}


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
        forward, by_autograd = ADAPTERS[framework].candidate_and_grads(candidate)
    except ImportError as error:
        raise ValueError(f"{framework} cannot be imported here: {error}") from error
    return forward, grads or by_autograd
