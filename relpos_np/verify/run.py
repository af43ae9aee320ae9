"""Put one case to a candidate, and keep what came back or why nothing usable did."""

import contextlib
import io
from typing import NamedTuple

import numpy as np

from relpos_np.verify.candidate import bind
from relpos_np.verify.contract import Refused, array_faults, as_array, failure, one_line
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.time_limit import TimeLimit, within


class Run(NamedTuple):
    """What a candidate did with one case."""

    case: object
    stages: dict  # name -> array; empty if nothing came back
    grads: dict  # input name -> array; empty if none were asked for
    raised: str = ""  # the exception, in one line
    grads_raised: str = ""  # likewise, of the gradient function
    faults: tuple = ()  # breaches of the contract, (name, sentence)
    remarks: tuple = ()  # sentences that are no fault


def run_case(candidate, case, dtype, *, grads=None, time_limit=10.0):
    """Call the candidate twice (and its gradient once) and look at what it did.

    Parameters
    ----------
    candidate, grads : callable
    case : Case
    dtype : numpy dtype of the inputs
    time_limit : float
        Seconds that each call may take.

    Returns
    -------
    Run
    """
    faults, remarks = [], []
    try:
        stages, changed, remark = call(candidate, case, dtype, time_limit)
        again, _, _ = call(candidate, case, dtype, time_limit)
        remarks += remark
        if changed:
            faults.append(("inputs_changed", f"it changed its argument {' and '.join(changed)}"))
        if not all(np.array_equal(stages[name], again.get(name), equal_nan=True)
                   for name in stages):
            faults.append(("not_deterministic", "two calls with the same inputs gave two answers"))
        faults += array_faults(stages["output"], case, dtype)
    except Exception as error:
        return Run(case, {}, {}, raised=one_line(error), faults=(failure(error),))
    gradients, grads_raised = {}, ""
    if grads is not None:
        try:
            gradients = call_grads(grads, case, dtype, time_limit)
        except Exception as error:
            name, sentence = failure(error)
            grads_raised = one_line(error)
            faults.append((f"gradients_{name}", f"the gradient function: {sentence}"))
    return Run(case, stages, gradients, grads_raised=grads_raised, faults=tuple(faults),
               remarks=tuple(remarks))


def call(candidate, case, dtype, time_limit):
    """Stages, names of changed arguments, remarks; with zeros for None if None is refused."""
    try:
        return call_once(candidate, case, dtype, time_limit, neutral=False)
    except TimeLimit:
        raise
    except Exception:
        if complete(case):
            raise
        stages, changed, remarks = call_once(candidate, case, dtype, time_limit, neutral=True)
        return stages, changed, [*remarks, "it refuses None, so an absent table or mask was "
                                           "given as zeros or all True"]


def call_once(candidate, case, dtype, time_limit, *, neutral):
    arrays, keywords = bind(candidate, with_neutral(case) if neutral else case, dtype)
    before = [None if a is None else a.copy() for a in arrays]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        answer = within(time_limit, candidate, *arrays, **keywords)
    changed = [
        name for name, a, b in zip((*case.inputs, "mask"), arrays, before, strict=False)
        if a is not None and not np.array_equal(a, b)
    ]
    text = printed.getvalue()
    remarks = [f"it printed {len(text)} characters, which were set aside"] if text else []
    return as_stages(answer), changed, remarks


def complete(case):
    """Whether there is a mask and both tables: nothing is given as None."""
    return case.mask is not None and all(a is not None for a in case.inputs.values())


def with_neutral(case):
    """A missing table as zeros, a missing mask as all True."""
    inputs = dict(case.inputs)
    key_table, value_table = (inputs[name] for name in INPUTS[3:])
    if key_table is None:
        inputs[INPUTS[3]] = np.zeros((len(value_table), inputs["query"].shape[3]))
    if value_table is None:
        inputs[INPUTS[4]] = np.zeros((len(key_table), inputs["value"].shape[3]))
    return case._replace(inputs=inputs, mask=np.bool_(True) if case.mask is None else case.mask)


def call_grads(grads, case, dtype, time_limit):
    """Gradients by input name, from a tuple in the order of the inputs or a dict."""
    def ask(asked):
        arrays, keywords = bind(grads, asked, dtype, first=(case.grad_output,))
        return within(time_limit, grads, *arrays, **keywords)

    try:
        answer = ask(case)
    except TimeLimit:
        raise
    except Exception:
        if complete(case):
            raise
        answer = ask(with_neutral(case))
    if hasattr(answer, "_asdict"):
        answer = answer._asdict()
    if not isinstance(answer, dict):
        answer = dict(zip(case.inputs, without_trailing_none(answer, len(case.inputs)),
                          strict=True))
    unknown = set(answer) - set(case.inputs)
    if unknown:
        raise Refused(f"gradients named {sorted(unknown)}; the inputs are {[*case.inputs]}")
    return {name: as_array(grad, f"gradient of {name}") for name, grad in answer.items()
            if grad is not None and case.inputs[name] is not None}


def without_trailing_none(answer, count):
    """Gradients beyond the inputs may be there if they are None: the mask has none."""
    answer = tuple(answer)
    return answer[:count] if all(grad is None for grad in answer[count:]) else answer


def as_stages(answer):
    """A dict of arrays with "output" in it, from what the candidate returned.

    It may be the output alone, a dict of stages, (output, cache) with a NamedTuple or dict of
    stages, or (output, weights).
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
    kept = {"output": as_array(answer["output"], "the output")}
    for name, stage in answer.items():
        with contextlib.suppress(Refused):
            kept[name] = as_array(stage, name)
    return kept
