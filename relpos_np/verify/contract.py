"""What a candidate must keep to whatever it computes: shape, dtype, its inputs left alone."""

import numpy as np

from relpos_np.verify.answers import Refused, as_stages
from relpos_np.verify.candidate import bind
from relpos_np.verify.compare import compare
from relpos_np.verify.expected import conditions
from relpos_np.verify.one_line import one_line
from relpos_np.verify.time_limit import Escape, TimeLimit, quiet, within

CHANGED_LATER = "called again after other cases it gave another answer to the same inputs"


def array_faults(output, case, dtype):
    """Shape and dtype of an output against the contract, as (name, sentence)."""
    expected = case.expected["output"].shape
    if output.shape != expected:
        yield ("wrong_shape", f"the output has shape {output.shape}, expected {expected}")
    yield from dtype_faults("the output", output, dtype)


def dtype_faults(what, array, dtype):
    """The dtype of an array against that of the inputs, as (name, sentence)."""
    if array.dtype == dtype:
        return
    if array.dtype.kind != "f":
        mend = "return floats"
    elif array.dtype.itemsize > np.dtype(dtype).itemsize:
        mend = "some factor is a NumPy float64 scalar, as 1/np.sqrt(d) is; use math.sqrt"
    else:
        mend = f"if that is meant, say dtype='{array.dtype}' (--dtype {array.dtype})"
    yield ("wrong_dtype", f"{what} is {array.dtype} for {np.dtype(dtype)} inputs: {mend}")


def gradient_faults(gradients, again, changed, dtype):
    """Breaches by the gradient function, as (name, sentence)."""
    if changed:
        yield ("gradients_inputs_changed",
               f"the gradient function changed its argument {' and '.join(changed)}")
    found = [fault for name, grad in gradients.items()
             for fault in dtype_faults(f"the gradient of {name}", grad, dtype)]
    yield from ((f"gradients_{name}", sentence) for name, sentence in found[:1])
    if any(differ(grad, again.get(name)) for name, grad in gradients.items()):
        yield ("gradients_not_deterministic", "two calls of the gradient function gave two "
               "answers: is a buffer not cleared?")


def differ(first, second):
    """Whether two answers to one question differ by more than the order of some sums.

    A threaded product may add in another order the next time, which is no fault.
    """
    if second is None or first.shape != second.shape:
        return True
    if not np.array_equal(np.isfinite(first), np.isfinite(second)):
        return True
    finite = np.isfinite(first)
    scale = abs(first[finite]).max(initial=0)
    allowed = 64 * np.finfo(first.dtype).eps * scale if first.dtype.kind == "f" else 0
    return bool(abs(first[finite] - second[finite]).max(initial=0) > allowed)


def failure(error):
    """(name, sentence) of an exception on the way to an answer."""
    if isinstance(error, TimeLimit):
        return ("hangs", str(error))
    if isinstance(error, Refused):
        return ("no_array", str(error))
    if isinstance(error, Escape):
        return ("raises", str(error))
    return ("raises", f"it raised {one_line(error)}")


def with_strided_inputs(candidate, runs, dtype, time_limit):
    """The runs, the first good one with a fault if arrays that are not contiguous are misread.

    A port in C that takes a pointer reads a transposed view as if it were contiguous.
    """
    for position, run in enumerate(runs):
        if (run.stages and not run.faults and not run.remarks
                and np.isfinite(run.stages["output"]).all()):
            fault = strided_fault(candidate, run, dtype, time_limit)
            kept = run._replace(faults=(*run.faults, *fault))
            return [*runs[:position], kept, *runs[position + 1 :]]
    return runs


def strided_fault(candidate, run, dtype, time_limit):
    arrays, keywords = bind(candidate, run.case, dtype)
    strided = [a if a is None else a.swapaxes(-1, -2).copy().swapaxes(-1, -2) for a in arrays]
    try:
        with quiet():
            again = as_stages(within(time_limit, candidate, *arrays, **keywords))["output"]
            answer = as_stages(within(time_limit, candidate, *strided, **keywords))["output"]
    except Exception as error:
        return (("strided_inputs", f"transposed views as inputs: {failure(error)[1]}"),)
    if differ(run.stages["output"], again):
        return (("not_deterministic", CHANGED_LATER),)
    # Other memory, other order of sums, in float32 perhaps: only a misreading is larger than this.
    allowed = 2 * conditions(run.case)["output"]
    if compare(run.case.id, "output", answer, run.stages["output"], allowed, np.float16):
        return (("strided_inputs", "transposed views as inputs give another answer: it reads them "
                                   "as if they were contiguous; call np.ascontiguousarray on each "
                                   "argument first"),)
    return ()
