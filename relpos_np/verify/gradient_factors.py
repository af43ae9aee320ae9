"""A gradient that is the right one times a number, or with its table's rows backwards."""

import numpy as np

from relpos_np.verify.compare import error_ratio, tolerance
from relpos_np.verify.expected import conditions


def heads(case):
    return case.num_heads or case.inputs["query"].shape[1]


def head_dim(case):
    given = case.inputs["relative_key_table"] if case.num_heads else case.inputs["query"]
    return given.shape[-1]


# What a gradient may be multiplied by, as a function of the case; in words.
FACTORS = {
    "divided by the number of heads": lambda case: 1 / heads(case),
    "multiplied by the number of heads": heads,
    "divided by the batch size": lambda case: 1 / len(case.grad_output),
    "multiplied by the batch size": lambda case: len(case.grad_output),
    "divided by sqrt(head_dim)": lambda case: head_dim(case) ** -0.5,
    "multiplied by sqrt(head_dim)": lambda case: head_dim(case) ** 0.5,
}


def relation(name, runs, dtype):
    """In words, how the gradient of an input is made from the right one; "" if it is not.

    Parameters
    ----------
    name : str
        Of the input.
    runs : sequence of Run
        All that have this gradient.
    dtype : dtype
    """
    if not any(run.grads[name].any() for run in runs):
        return "zero: is it cut off from the loss, detached?"
    for turn, turned in (1, ""), (-1, " with its rows backwards"):
        if turn == -1 and not name.endswith("table"):
            continue
        number = solved_factor(name, runs, turn)
        factors = {f"times {number:.6g}": lambda case, number=number: number, **FACTORS}
        found = [words for words, factor in factors.items()
                 if all(agrees(run, name, factor(run.case), turn, dtype) for run in runs)]
        if found and (abs(number - 1) > 1e-4 or found[0] in FACTORS):
            return f"the right one{turned} {' or '.join(found)}"
        if found and turn == -1:
            return f"the right one{turned}"
    return ""


def solved_factor(name, runs, turn):
    """The number that fits the run with the most numbers best; NaN if there is none."""
    run = max(runs, key=lambda run: run.grads[name].size)
    got, expected = run.grads[name], right_gradient(run, name, turn)
    square = float((expected * expected).sum())
    if got.shape != expected.shape or square == 0:
        return np.nan
    return float((got * expected).sum()) / square


def right_gradient(run, name, turn):
    expected = run.case.expected[f"grad_{name}"]
    return expected[..., ::turn, :] if turn == -1 else expected


def agrees(run, name, factor, turn, dtype):
    """Whether a gradient is `factor` times the right one, but for roundings."""
    got, expected = run.grads[name], right_gradient(run, name, turn)
    if got.shape != expected.shape:
        return False
    condition = conditions(run.case)[f"grad_{name}"]
    condition = condition[..., ::-1, :] if turn == -1 else condition
    # Roundings of the factor itself are allowed for too.
    allowed = tolerance(2 * abs(factor) * condition + 8 * abs(factor * expected), dtype)
    return bool(error_ratio(got, factor * expected, allowed).max(initial=0) <= 1)
