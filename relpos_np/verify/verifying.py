"""verify(): put all cases to a candidate, judge what comes back, say what is wrong."""

import numpy as np

from relpos_np.verify import contract, frameworks
from relpos_np.verify.candidate import load_candidate, not_for
from relpos_np.verify.cases import load_cases, select_cases
from relpos_np.verify.expected import useful
from relpos_np.verify.judge import judge
from relpos_np.verify.live import live_findings
from relpos_np.verify.results import read_results
from relpos_np.verify.run import run_case

# Seconds for each call; JAX compiles every operation anew for each case's shapes.
TIME_LIMIT, TIME_LIMIT_JAX = 10.0, 120.0


def verify(
    candidate, *, grads=None, layer=False, dtype="float64", without=(), framework=None,
    time_limit=None,
):
    """Is this function Shaw's relative attention, and if not, what is it?

    Parameters
    ----------
    candidate : callable or str
        Called as ``candidate(query, key, value, relative_key_table, relative_value_table, mask)``
        with arrays as for `attention_forward`; returns the output, or a dict of stages with an
        "output" in it, or (output, cache). If it has a parameter `query_start` it is given that;
        if not, queries fewer than the keys are the last ones. As text:
        ``file.py:function`` or ``package.module:function``.
    grads : callable or str, optional
        Called with the gradient of the output, then like the candidate; returns the gradients of
        the five inputs in their order, or a dict by their names.
    layer : bool
        The candidate is the whole layer: ``candidate(x, query_weight, key_weight, value_weight,
        output_weight, relative_key_table, relative_value_table, mask, num_heads=...)``.
    dtype : str or dtype
        float64, float32 or float16: what the inputs are given in.
    without : sequence of str
        Ids or tags of cases to leave out: "mask", "cross", "long", ...
    framework : {"torch", "jax"}, optional
        The candidate takes and returns tensors of it; its gradients come from its autograd.
    time_limit : float, optional
        Seconds that each call may take: by default 10, for JAX, which compiles, 120.

    Returns
    -------
    Report
        `print` it; it has `ok`, `exit_code`, `names`, `assert_ok()`, `to_json(path)`, `plot()`.

    Raises
    ------
    ValueError
        If the candidate cannot be loaded or an option is not known.

    Examples
    --------
    >>> from relpos_np import attention_forward
    >>> verify(attention_forward, without=["mask", "long"]).verdict
    'PASS'
    """
    dtype = known_dtype(dtype)
    name = candidate if isinstance(candidate, str) else getattr(
        candidate, "__name__", type(candidate).__name__)
    candidate, grads = (
        load_candidate(function) if isinstance(function, str) else function
        for function in (candidate, grads)
    )
    if framework:
        candidate, grads = frameworks.adapt(candidate, grads, framework)
    time_limit = time_limit or (TIME_LIMIT_JAX if framework == "jax" else TIME_LIMIT)
    kind = [case for case in load_cases() if bool(case.num_heads) == layer]
    wanted = select_cases(load_cases(), without)
    runs, left_out = [], {}
    for case in kind:
        reason = why_left_out(case, wanted, candidate, dtype)
        if reason:
            left_out[case.id] = reason
            continue
        run = run_case(candidate, case, dtype, grads=grads, time_limit=time_limit)
        if run.raised and case.optional:
            left_out[case.id] = f"it refused: {run.raised}"
        else:
            runs.append(run)
    runs = contract.with_strided_inputs(candidate, runs, dtype, time_limit)
    report = judge(name, runs, left_out, kind, dtype)
    return report if report.ok else live_findings(report, candidate, runs, dtype, time_limit)


def why_left_out(case, wanted, candidate, dtype):
    """Why a case is not run, "" if it is."""
    if case not in wanted:
        return "not asked for"
    if not useful(case, dtype):
        return f"in {dtype} roundings alone may change its output"
    return not_for(candidate, case)


def known_dtype(dtype):
    names = ("float64", "float32", "float16")
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"dtype must be one of {', '.join(names)}, got {dtype!r}") from None
    if dtype.name not in names:
        raise ValueError(f"dtype must be one of {', '.join(names)}, got {dtype.name}")
    return dtype


def verify_results(directory, *, layer=False, dtype="float64", without=()):
    """As `verify`, for results that a port in another language wrote (see exchange.py).

    Parameters
    ----------
    directory : path
        One file per case, ``ID.json`` or ``ID.npz``.
    layer, dtype, without
        As for `verify`; `dtype` is what the port computed in.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If there is no such directory or no result in it.
    """
    dtype = known_dtype(dtype)
    kind = [case for case in load_cases() if bool(case.num_heads) == layer]
    wanted = [case for case in select_cases(load_cases(), without) if case in kind]
    runs, missing = read_results(directory, wanted, dtype)
    return judge(f"results in {directory}", runs, missing, kind, dtype)
