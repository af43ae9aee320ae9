"""Notebook 5: how a gradient is checked without trusting the one who wrote it."""

import numpy as np

from relpos_np.exercises.exercise import Exercise, names
from relpos_np.exercises.numeric import (
    BOTH_SIGNS,
    SMALL,
    TINY,
    H,
    central,
    complex_step,
    elementwise,
    error,
    left_moved,
    moved,
    number,
    remainder,
    signed_remainder,
    slope,
    start_loss,
    start_pair,
    start_slope,
    verdict,
)
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake


def own(name, step, wrong, wrote, why):
    return Mistake(name, {step.__name__: wrong}, MISTAKE, wrote=wrote, why=why)


def pair(x):
    return {"got": x.got, "expected": x.want}


def loss_at(*more):
    return lambda x: {"loss": x.loss, "x": x.query, **{name: getattr(x, name) for name in more}}


EXERCISES = (
    Exercise(
        "5.1", "the number that is differentiated", "L = sum of grad_output * output",
        function="loss_of",
        takes=lambda x: {"output": x.output, "grad_output": x.g}, gives=lambda x: x.number,
        axes="", steps=(number,), situations=SMALL, start=start_loss,
        own=(
            own("upstream_ones", number, lambda x: x.output.sum(), "sum of output",
                "An upstream gradient of ones: errors that add up to zero stay unseen."),
            own("loss_mean", number, lambda x: (x.g * x.output).mean(),
                "mean of grad_output * output",
                "A mean divides every gradient by the number of outputs."),
            own("loss_not_summed", number, lambda x: x.g * x.output, "grad_output * output",
                "A gradient is of one number; this is an array."),
        ),
        hints=(
            "A backward pass takes grad_output and returns gradients of one number. Which?",
            "L = sum over all elements of grad_output * output.",
            "np.sum(grad_output * output).",
        ),
    ),
    Exercise(
        "5.2", "central differences", "(L(x + h) - L(x - h)) / 2h, number by number",
        function="central_differences",
        takes=loss_at("h"), gives=lambda x: x.central, axes="bhid", steps=(central,),
        situations=SMALL, start=start_loss,
        own=(
            own("forward_difference", central, elementwise(
                lambda x, index: (moved(x, index, H) - x.loss(x.query)) / H),
                "(L(x + h) - L(x)) / h",
                "One-sided: its error falls with h, that of the central difference with h^2."),
            own("divided_by_h", central, lambda x: 2 * central(x), "(L(x + h) - L(x - h)) / h",
                "The two points are 2h apart."),
            own("not_put_back", central, elementwise(
                lambda x, index: (left_moved(x, index, -H, H) - left_moved(x, index, -H, -H))
                    / (2 * H)),
                "x[index] is never put back",
                "The numbers moved before stay moved, so later derivatives are taken elsewhere."),
            own("all_at_once", central, elementwise(
                lambda x, index: (x.loss(x.query + H) - x.loss(x.query - H)) / (2 * H)),
                "(L(x + h) - L(x - h)) / 2h, all numbers moved at once",
                "That is the sum of all derivatives. One number may move at a time."),
        ),
        hints=(
            "Move one number of a copy of x by h and by -h, and see what the loss does.",
            "gradient[index] = (L(x + h) - L(x - h)) / (2 h), only x[index] moved.",
            "for index in np.ndindex(x.shape): two copies of x, `above[index] += h`, "
            "`below[index] -= h`.",
        ),
    ),
    Exercise(
        "5.3", "complex step", "imaginary part of L(x + i h), divided by h",
        function="complex_step",
        takes=lambda x: {**loss_at()(x), "h": TINY}, gives=lambda x: x.complex_step, axes="bhid",
        steps=(complex_step,), situations=SMALL, start=start_loss,
        own=(
            own("real_part", complex_step, elementwise(
                lambda x, index: moved(x, index, 1j * TINY).real / TINY), "Re L(x + i h) / h",
                "The real part is the loss itself. The derivative is in the imaginary part."),
            own("real_step", complex_step, lambda x: 0 * x.query,
                "0: a real step of h, or an imaginary part that is not divided by h",
                "x + 1e-20 is x in floating point. Step by 1j * h, and divide by h."),
            own("imaginary_not_put_back", complex_step, elementwise(
                lambda x, index: left_moved(x, index, 1j * TINY, 1j * TINY).imag / TINY),
                "x[index] is never put back",
                "The numbers moved before stay moved: every derivative adds to the next."),
        ),
        hints=(
            "Take the step in the imaginary direction: no difference of nearly equal numbers.",
            "L(x + i h) = L(x) + i h L'(x) + ..., so L'(x) = Im L(x + i h) / h.",
            "A copy x.astype(complex), `moved[index] += 1j * h`, `loss(moved).imag / h`.",
        ),
    ),
    Exercise(
        "5.4", "one number for the error", "max |got - expected| / max(1, max |expected|)",
        function="gradient_error",
        takes=pair, gives=lambda x: x.error, axes="", steps=(error,),
        situations=("opposite", "large", "zero", "one", "nan"), start=start_pair,
        own=(
            own("error_mean", error, lambda x: abs(x.got - x.want).mean() / max(
                1, abs(x.want).max()), "mean |got - expected| / ..",
                "One wrong number among a thousand right ones disappears in a mean."),
            own("error_signed", error, lambda x: (x.got - x.want).max() / max(
                1, abs(x.want).max()), "max (got - expected) / ..",
                "Without the absolute value an error below is no error."),
            own("error_absolute", error, lambda x: abs(x.got - x.want).max(),
                "max |got - expected|",
                "Rounding of numbers in the millions is larger than a real error of small ones."),
            own("error_by_zero", error, lambda x: abs(x.got - x.want).max() / abs(x.want).max(),
                "max |got - expected| / max |expected|",
                "A gradient can be zero everywhere: then this is 0 / 0."),
            own("error_elementwise", error, lambda x: (
                abs(x.got - x.want) / np.maximum(1, abs(x.want))).max(),
                "max (|got - expected| / max(1, |expected|)), element by element",
                "Asked is one scale for the whole array, its largest number."),
            own("error_skips_nan", error, lambda x: np.nanmax(abs(x.got - x.want)) / max(
                1, abs(x.want).max()), "nanmax |got - expected| / ..",
                "NaN is the worst error there is and must not be skipped."),
        ),
        hints=(
            "The worst element, seen against the size of the whole array.",
            "max |got - expected| / max(1, max |expected|).",
            "np.abs(...).max() twice; Python's max(1, ...) keeps a zero gradient from dividing "
            "by 0.",
        ),
    ),
    Exercise(
        "5.5", "the verdict", "True only if the error of 5.4 is within the tolerance",
        function="passes",
        takes=lambda x: {**pair(x), "tolerance": x.tolerance}, gives=lambda x: x.verdict, axes="",
        steps=(verdict,), situations=("right", "one", "all", "opposite", "nan", "large", "zero"),
        start=start_pair,
        own=(
            own("nan_passes", verdict, lambda x: not error(x) > x.tolerance,
                "not error > tolerance",
                "NaN is neither above nor below: turn it round, error <= tolerance."),
            own("one_is_enough", verdict, lambda x: bool(
                (abs(x.got - x.want) <= x.tolerance).any()), "any |got - expected| <= tolerance",
                "Every element must be within the tolerance, not one of them."),
            own("cancelling", verdict, lambda x: bool(
                abs((x.got - x.want).sum()) <= x.tolerance), "|sum (got - expected)| <= tolerance",
                "Errors above and below cancel in the sum."),
            own("always_true", verdict, lambda x: True, "True, whatever comes",
                "A check that cannot fail is none."),
        ),
        hints=(
            "What does your comparison say of NaN?",
            "error <= tolerance, with the error of 5.4.",
            "Call 5.4. `not error > tolerance` and `error <= tolerance` differ for NaN.",
        ),
    ),
    Exercise(
        "5.6", "Taylor remainder", "|L(x + h p) - L(x) - h p . gradient|",
        function="taylor_remainder",
        takes=lambda x: {"loss": x.loss, "x": x.query, "gradient": x.grad_query,
                         "direction": x.direction, "h": x.h},
        gives=lambda x: x.remainder, axes="", steps=(remainder,), situations=BOTH_SIGNS,
        start=start_loss,
        own=(
            own("no_first_order", remainder, lambda x: abs(
                x.loss(x.query + H * x.direction) - x.loss(x.query)), "|L(x + h p) - L(x)|",
                "Without the gradient's term nothing is said about the gradient."),
            own("h_missing", remainder, lambda x: abs(
                x.loss(x.query + H * x.direction) - x.loss(x.query)
                - np.sum(x.grad_query * x.direction)), "|L(x + h p) - L(x) - p . gradient|",
                "A step of h p changes the loss by h p . gradient."),
            own("added", remainder, lambda x: abs(
                x.loss(x.query + H * x.direction) - x.loss(x.query)
                + H * np.sum(x.grad_query * x.direction)), "|L(x + h p) - L(x) + h p . gradient|",
                "The gradient's prediction is subtracted from what happened, not added."),
            own("remainder_signed", remainder, signed_remainder,
                "L(x + h p) - L(x) - h p . gradient, without the absolute value",
                "The slope needs a logarithm, so take the absolute value."),
        ),
        hints=(
            "How far is what happened from what the gradient predicts?",
            "|L(x + h p) - L(x) - h * sum(gradient * p)|, p the direction.",
            "Two calls of loss; np.sum(gradient * direction) is the prediction for h = 1.",
        ),
    ),
    Exercise(
        "5.7", "slope", "log2(coarse / fine): 2 for a right gradient, 1 for a wrong one",
        function="slope",
        takes=names("coarse", "fine"), gives=lambda x: x.slope, axes="", steps=(slope,),
        situations=SMALL, start=start_slope,
        own=(
            own("natural_logarithm", slope, lambda x: np.log(x.coarse / x.fine),
                "log(coarse / fine)", "h was halved, so the base is 2."),
            own("upside_down", slope, lambda x: np.log2(x.fine / x.coarse), "log2(fine / coarse)",
                "The remainder falls with h: the coarse one is the larger."),
            own("no_logarithm", slope, lambda x: x.coarse / x.fine, "coarse / fine",
                "If R = c h^n, halving h divides R by 2^n. Asked is n."),
        ),
        hints=(
            "coarse is the remainder at h, fine the one at h/2. If R = c h^n, what is n?",
            "n = log2(coarse / fine).",
            "np.log2.",
        ),
    ),
)
