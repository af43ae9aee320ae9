"""What a candidate must keep to whatever it computes: shape, dtype, its inputs left alone."""

import numpy as np

from relpos_np.verify.candidate import bind
from relpos_np.verify.compare import compare
from relpos_np.verify.expected import conditions
from relpos_np.verify.time_limit import TimeLimit, within


class Refused(Exception):
    """What came back is not an array that can be judged."""


def as_array(value, what):
    """`value` as a NumPy array of numbers, or `Refused` with the mend."""
    kind = f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"
    if getattr(value, "requires_grad", False):
        raise Refused(f"{what} is a {kind} that requires grad: return output.detach().numpy(), "
                      f"or say framework='torch'")
    if isinstance(value, list | tuple) or not hasattr(value, "__array__"):
        raise Refused(f"{what} is a {type(value).__name__}, not an array: "
                      f"return np.asarray(output)")
    array = np.array(value)
    if not np.issubdtype(array.dtype, np.number):
        raise Refused(f"{what} has dtype {array.dtype}, which holds no numbers")
    return array


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
        answer = within(time_limit, candidate, *arrays, **keywords)
        answer = answer["output"] if isinstance(answer, dict) else answer
        answer = as_array(answer[0] if isinstance(answer, tuple) else answer, "the output")
    except Exception as error:
        return (("strided_inputs", f"transposed views as inputs: {failure(error)[1]}"),)
    allowed = 2 * conditions(run.case)["output"]
    if compare(run.case.id, "output", answer, run.stages["output"], allowed, answer.dtype):
        return (("strided_inputs", "transposed views as inputs give another answer: it reads them "
                                   "as if they were contiguous; np.ascontiguousarray at the door"),)
    return ()
