"""What a candidate must keep to whatever it computes: shape, dtype, its inputs left alone."""

import numpy as np

from relpos_np.verify.answers import Refused, as_stages
from relpos_np.verify.candidate import bind
from relpos_np.verify.compare import compare
from relpos_np.verify.expected import conditions
from relpos_np.verify.time_limit import TimeLimit, within


def array_faults(output, case, dtype):
    """Shape and dtype of an output against the contract, as (name, sentence)."""
    expected = case.expected["output"].shape
    if output.shape != expected:
        yield ("wrong_shape", f"the output has shape {output.shape}, expected {expected}")
    if output.dtype != dtype:
        finer = output.dtype.itemsize > np.dtype(dtype).itemsize
        yield ("wrong_dtype", f"the output is {output.dtype} for {np.dtype(dtype)} inputs" + (
            ": some factor is a NumPy float64 scalar, as 1/np.sqrt(d) is; use math.sqrt" if finer
            else f": if that is meant, say dtype='{output.dtype}'"))


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
    return ("raises", f"it raised {one_line(error)}")


def one_line(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def with_strided_inputs(candidate, runs, dtype, time_limit):
    """The runs, the first good one with a fault if arrays that are not contiguous are misread.

    A port in C that takes a pointer reads a transposed view as if it were contiguous.
    """
    for position, run in enumerate(runs):
        if run.stages and not run.faults and not run.remarks:
            fault = strided_fault(candidate, run, dtype, time_limit)
            kept = run._replace(faults=(*run.faults, *fault))
            return [*runs[:position], kept, *runs[position + 1 :]]
    return runs


def strided_fault(candidate, run, dtype, time_limit):
    arrays, keywords = bind(candidate, run.case, dtype)
    arrays = [a if a is None else a.swapaxes(-1, -2).copy().swapaxes(-1, -2) for a in arrays]
    try:
        answer = as_stages(within(time_limit, candidate, *arrays, **keywords))["output"]
    except Exception as error:
        return (("strided_inputs", f"transposed views as inputs: {failure(error)[1]}"),)
    allowed = 2 * conditions(run.case)["output"]
    if compare(run.case.id, "output", answer, run.stages["output"], allowed, answer.dtype):
        return (("strided_inputs", "transposed views as inputs give another answer: it reads them "
                                   "as if they were contiguous; np.ascontiguousarray at the door"),)
    return ()
