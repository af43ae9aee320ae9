"""Notebook 5: how a gradient is checked without trusting the one who wrote it."""

import numpy as np

from relpos_np.exercises.exercise import Exercise, names, start
from relpos_np.verify.formula import INPUTS, run_forward
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake
from relpos_np.verify.specs import Spec

SMALL = (
    Spec("small", "few numbers, so that every one can be moved", batch=1, num_heads=2, query_len=3,
         key_len=3, head_dim=2, value_dim=3, k=1),
    Spec("causal", "the same under a mask", batch=2, num_heads=1, query_len=3, key_len=3,
         head_dim=4, value_dim=2, k=1, mask="causal"),
)
BOTH_SIGNS = (*SMALL, SMALL[0]._replace(tags=("negated",)))
H, TINY = 0.25, 1e-20


def start_loss(spec, seed):
    """The reference, and the loss as a function of the queries alone."""
    x = start(spec, seed)
    arguments = {name: getattr(x, name) for name in (*INPUTS, "mask", "query_start")}
    x.loss = lambda query: np.sum(x.g * run_forward({**arguments, "query": query}).output)
    x.direction, x.h = x.query[..., ::-1].copy(), H
    if "negated" in spec.tags:  # the remainder changes its sign
        x.g, x.grad_query = -x.g, -x.grad_query
    return x


def moved(x, index, step):
    """The loss after one number of the queries has moved by `step`."""
    query = x.query.astype(np.result_type(x.query, type(step)))
    query[index] += step
    return x.loss(query)


def elementwise(derivative):
    """A step that computes one derivative per number of the queries."""
    def step(x):
        result = np.zeros(x.query.shape)
        for index in np.ndindex(result.shape):
            result[index] = derivative(x, index)
        return result
    return step


def left_moved(x, index, left, step):
    """The loss when x[index] moves by `step` and the numbers before it were left at `left`."""
    query = x.query.astype(np.result_type(x.query, type(step)))
    query.reshape(-1)[: np.ravel_multi_index(index, query.shape)] += left
    query[index] += step
    return x.loss(query)


# ---- the right steps ---------------------------------------------------------------------------


def number(x):
    return np.sum(x.g * x.output)


def central(x):
    return elementwise(lambda x, index: (moved(x, index, H) - moved(x, index, -H)) / (2 * H))(x)


def complex_step(x):
    return elementwise(lambda x, index: moved(x, index, 1j * TINY).imag / TINY)(x)


def error(x):
    return abs(x.got - x.want).max() / max(1, abs(x.want).max())


def verdict(x):
    return bool(error(x) <= x.tolerance)


def signed_remainder(x):
    return (x.loss(x.query + H * x.direction) - x.loss(x.query)
            - H * np.sum(x.grad_query * x.direction))


def remainder(x):
    return abs(signed_remainder(x))


def slope(x):
    return np.log2(x.coarse / x.fine)


# ---- two arrays to be compared -----------------------------------------------------------------


def start_pair(kind, seed):
    """A gradient and what is said of it: `kind` says in which way it is wrong, if at all."""
    x = start(SMALL[0], seed)
    x.want, x.tolerance = x.grad_query, 1e-6
    x.got = x.want * (1 + 1e-9)
    first, last = (0, 0, 0, 0), (0, 1, 2, 1)
    if kind == "opposite":  # two errors that cancel in a sum
        x.got[first] += 0.5
        x.got[last] -= 0.5
    elif kind == "one":  # one wrong number among many, and not the largest
        x.want = 100 * x.want / abs(x.want).max()
        x.got = x.want.copy()
        x.got.flat[abs(x.want).argmin()] -= 1
    elif kind == "large":  # right to nine digits, of numbers in the millions
        x.want, x.got = 1e6 * x.want / abs(x.want).max(), 1e6 * x.got / abs(x.want).max()
    elif kind == "nan":
        x.got[last] = np.nan
    elif kind == "zero":
        x.want, x.got = 0 * x.want, 0 * x.want
    return x


def start_slope(spec, seed):
    """Remainders at h and h/2, for the right gradient and for one that lacks the key table."""
    x = start_loss(spec, seed)
    gradient = 1.5 * x.grad_query if spec.mask else x.grad_query

    def remainder_at(h):
        return abs(x.loss(x.query + h * x.direction) - x.loss(x.query)
                   - h * np.sum(gradient * x.direction))

    x.coarse, x.fine = remainder_at(1 / 64), remainder_at(1 / 128)
    return x


def own(name, step, wrong, wrote, why):
    return Mistake(name, {step.__name__: wrong}, MISTAKE, wrote=wrote, why=why)


def pair(x):
    return {"got": x.got, "expected": x.want}


def loss_at(*more):
    return lambda x: {"loss": x.loss, "x": x.query, **{name: getattr(x, name) for name in more}}


EXERCISES = (
    Exercise(
        "5.1", "the number that is differentiated", "L = sum of grad_output * output",
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
        takes=lambda x: {**pair(x), "tolerance": x.tolerance}, gives=lambda x: x.verdict, axes="",
        steps=(verdict,), situations=("right", "one", "opposite", "nan", "large", "zero"),
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
