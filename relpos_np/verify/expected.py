"""What a case expects, with its tolerances, by the name of the stage or gradient."""

import functools

import numpy as np

from relpos_np.verify.cases import find_case
from relpos_np.verify.compare import compare, error_ratio, tolerance
from relpos_np.verify.condition import attention_condition, layer_condition
from relpos_np.verify.formula import run_forward

# In the order in which they are made: the first that differs is where to look.
STAGES = (
    "index", "content_logits", "relative_logits", "scaled_logits", "scores", "weights",
    "content_output", "relative_output",
)

# A case tells nothing if correct code may be off by this much of the largest output.
LARGEST_USEFUL_TOLERANCE = 0.1


def conditions(case):
    """Condition arrays of a reference case."""
    return conditions_by_id(case.id)


@functools.cache
def conditions_by_id(case_id):
    case = find_case(case_id)
    judge = layer_condition if case.num_heads else attention_condition
    return judge(case.formula_inputs(), case.grad_output)


def useful(case, dtype):
    """Whether roundings in that dtype leave anything of the case to judge."""
    allowed = tolerance(conditions(case)["output"], dtype).max()
    return allowed <= LARGEST_USEFUL_TOLERANCE * abs(case.expected["output"]).max()


def output_difference(run, dtype):
    """Difference of a run's output, or None; `dtype` is the precision to hold it to."""
    return compare(run.case.id, "output", run.stages["output"], run.case.expected["output"],
                   conditions(run.case)["output"], dtype)


def output_ratio(run, dtype):
    """Worst error of a run's output in units of its tolerance."""
    got, expected = run.stages["output"], run.case.expected["output"]
    if got.shape != expected.shape:
        return float("inf")
    allowed = tolerance(conditions(run.case)["output"], dtype)
    return float(error_ratio(got, expected, allowed).max(initial=0))


def gradient_differences(run, dtype):
    """Differences of a run's gradients, each as `output_difference`."""
    found = (
        compare(run.case.id, f"grad_{name}", grad, run.case.expected[f"grad_{name}"],
                conditions(run.case)[f"grad_{name}"], dtype)
        for name, grad in run.grads.items()
    )
    return [difference for difference in found if difference]


def first_stage_difference(run, dtype):
    """The first of the stages that the candidate returned which is not as it should be."""
    case = run.case
    if case.num_heads:
        return None
    right = vars(run_forward(case.formula_inputs()))
    right |= {name: case.expected[name] for name in ("scores", "weights")
              if name in case.expected}
    for name in STAGES:
        if name in run.stages:
            condition = conditions(case).get(name, np.zeros(np.shape(right[name])))
            got, expected = run.stages[name], right[name]
            if name == "scores" and np.shape(got) == expected.shape:
                # A finite fill of hidden pairs will do; what it does to the weights is judged.
                got = np.where((expected == -np.inf) & (got < -1e3), expected, got)
            found = compare(case.id, name, got, expected, condition, dtype)
            if found:
                return found
    return None
