"""verify(): put all cases to a candidate, judge what comes back, say what is wrong."""

import numpy as np

from relpos_np.verify import contract
from relpos_np.verify.calling import callable_as
from relpos_np.verify.candidate import guessed_mask, not_for
from relpos_np.verify.cases import load_cases, select_cases
from relpos_np.verify.expected import useful
from relpos_np.verify.judge import judge
from relpos_np.verify.live import live_findings
from relpos_np.verify.results import NO_FILE, read_results
from relpos_np.verify.run import run_case
from relpos_np.verify.time_limit import known_time_limit

# What a port raises that does not want such inputs; JAX says so with a TypeError too.
REFUSALS = (ValueError, IndexError, NotImplementedError, AssertionError, RuntimeError)


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
        "output" in it, or (output, cache). If it has parameters of these names their order does
        not matter; the mask may also be called attn_mask or attention_mask. If it has a parameter
        `query_start` it is given that; if not, queries fewer than the keys are the last ones. As
        text: ``file.py:function`` or ``package.module:function``.
    grads : callable or str, optional
        Called with the gradient of the output, then like the candidate; returns the gradients of
        the five inputs in their order, or a dict by their names.
    layer : bool
        The candidate is the whole layer: ``candidate(x, query_weight, key_weight, value_weight,
        output_weight, relative_key_table, relative_value_table, mask, num_heads=...)``.
    dtype : str or dtype
        float64, float32 or float16: what the inputs are given in.
    without : sequence of str
        Ids or tags of cases to leave out: "mask", "cross", "long", ...; or one text, "mask,long".
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
    name = name_of(candidate)
    time_limit = known_time_limit(time_limit, framework)
    kind = [case for case in load_cases() if bool(case.num_heads) == layer]
    wanted = select_cases(load_cases(), without)
    candidate, grads = callable_as(
        candidate, grads, framework=framework, layer=layer, dtype=dtype, time_limit=time_limit)
    refusals = (*REFUSALS, TypeError) if framework == "jax" else REFUSALS
    runs, left_out = [], {}
    for case in kind:
        reason = why_left_out(case, wanted, candidate, dtype)
        if reason:
            left_out[case.id] = reason
            continue
        run = run_case(candidate, case, dtype, grads=grads, time_limit=time_limit)
        if case.optional and isinstance(run.error, refusals):
            left_out[case.id] = f"optional, and it raised {run.raised}"
        else:
            runs.append(run)
    runs = contract.with_strided_inputs(candidate, runs, dtype, time_limit)
    report = judge(name, runs, left_out, kind, dtype)
    guessed = guessed_mask(candidate, len(kind[0].inputs))
    report = report._replace(remarks=(*report.remarks, *([guessed] if guessed else [])))
    return report if report.ok else live_findings(report, candidate, runs, dtype, time_limit)


def name_of(candidate):
    """What to call a candidate: its name as it was given, or that of the function inside."""
    if isinstance(candidate, str):
        return candidate
    inner = getattr(candidate, "func", candidate)  # of a functools.partial
    return getattr(inner, "__name__", type(inner).__name__)


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
    runs, left_out = read_results(directory, wanted, dtype)
    missing = [case.id for case in wanted
               if left_out.get(case.id) == NO_FILE and not case.optional]
    return judge(f"results in {directory}", runs, left_out, kind, dtype, missing)
