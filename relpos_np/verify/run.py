"""Put one case to a candidate, and keep what came back or why nothing usable did."""

from typing import NamedTuple

import numpy as np

from relpos_np.verify.answers import as_gradients, as_stages
from relpos_np.verify.candidate import bind
from relpos_np.verify.contract import array_faults, differ, failure, gradient_faults
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.one_line import one_line
from relpos_np.verify.time_limit import TimeLimit, quiet, within


class Run(NamedTuple):
    """What a candidate did with one case."""

    case: object
    stages: dict  # name -> array; empty if nothing came back
    grads: dict  # input name -> array; empty if none were asked for
    raised: str = ""  # the exception, in one line
    grads_raised: str = ""  # likewise, of the gradient function
    faults: tuple = ()  # breaches of the contract, (name, sentence)
    remarks: tuple = ()  # sentences that are no fault
    error: Exception | None = None  # what `raised` says in a line


def run_case(candidate, case, dtype, *, grads=None, time_limit=10.0):
    """Call the candidate twice, and its gradient twice, and look at what they did.

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
    try:
        stages, changed, remarks = call(candidate, case, dtype, time_limit)
        again, _, _ = call(candidate, case, dtype, time_limit)
    except Exception as error:
        return Run(case, {}, {}, raised=one_line(error), faults=(failure(error),), error=error)
    faults = list(array_faults(stages["output"], case, dtype))
    if changed:
        faults.append(("inputs_changed", f"it changed its argument {' and '.join(changed)}"))
    if differ(stages["output"], again["output"]):
        faults.append(("not_deterministic", "two calls with the same inputs gave two answers"))
    gradients, raised = {}, ""
    if grads is not None:
        try:
            gradients, changed = call_grads(grads, case, dtype, time_limit)
            again, _ = call_grads(grads, case, dtype, time_limit)
            faults += gradient_faults(gradients, again, changed, dtype)
        except Exception as error:
            name, sentence = failure(error)
            raised = one_line(error)
            faults.append((f"gradients_{name}", f"the gradient function: {sentence}"))
    return Run(case, stages, gradients, grads_raised=raised, faults=tuple(faults),
               remarks=tuple(remarks))


def call(candidate, case, dtype, time_limit):
    """Stages, names of changed arguments, remarks; with zeros for None if None is refused."""
    (stages, changed, printed), refused = with_or_without_none(
        lambda asked: call_once(candidate, asked, dtype, time_limit), case)
    remarks = [f"it printed {printed} characters, which were set aside"] if printed else []
    if refused:
        remarks.append("it refuses None, so an absent table or mask was given as zeros or all "
                       "True")
    return stages, changed, remarks


def call_once(candidate, case, dtype, time_limit):
    """Stages, names of changed arguments, and how many characters were printed."""
    answer, changed, printed = observed(candidate, case, dtype, time_limit)
    return as_stages(answer), changed, printed


def call_grads(grads, case, dtype, time_limit):
    """Gradients by input name, and names of changed arguments."""
    def ask(asked):
        answer, changed, _ = observed(grads, asked, dtype, time_limit, grad_output=case.grad_output)
        return as_gradients(answer, case.inputs), changed

    return with_or_without_none(ask, case)[0]


def observed(function, case, dtype, time_limit, **first):
    """The answer, names of changed arguments, and how many characters were printed."""
    arrays, keywords = bind(function, case, dtype, first.values())
    given = dict(zip((*first, *case.inputs, "mask"), arrays, strict=False)) | keywords
    before = {name: a.copy() for name, a in given.items() if isinstance(a, np.ndarray)}
    with quiet() as printed:
        answer = within(time_limit, function, *arrays, **keywords)
    changed = [name for name, a in before.items() if not np.array_equal(a, given[name])]
    return answer, changed, len(printed.getvalue())


def with_or_without_none(ask, case):
    """``ask(case)``, and again with neutral arrays for what is None if that raises.

    Returns
    -------
    object, bool
        The answer, and whether the second way was needed.
    """
    try:
        return ask(case), False
    except TimeLimit:
        raise
    except Exception as error:
        if case.mask is not None and all(a is not None for a in case.inputs.values()):
            raise
        try:
            return ask(with_neutral(case)), True
        except Exception:
            raise error from None  # None was not what it stumbled over


def with_neutral(case):
    """A missing table as zeros, a missing mask as all True."""
    inputs = dict(case.inputs)
    key_table, value_table = (inputs[name] for name in INPUTS[3:])
    if key_table is None:
        inputs[INPUTS[3]] = np.zeros((len(value_table), inputs["query"].shape[3]))
    if value_table is None:
        inputs[INPUTS[4]] = np.zeros((len(key_table), inputs["value"].shape[3]))
    return case._replace(inputs=inputs, mask=np.bool_(True) if case.mask is None else case.mask)
