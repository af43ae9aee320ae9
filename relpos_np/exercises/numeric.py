"""The steps of notebook 5: derivatives by moving numbers, and what is said of a gradient."""

import numpy as np

from relpos_np.exercises.exercise import start
from relpos_np.verify.formula import INPUTS, run_forward
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
    elif kind == "all":  # every number wrong
        x.got += 0.5
    elif kind == "nan":
        x.got[last] = np.nan
    elif kind == "zero":
        x.want, x.got = 0 * x.want, 0 * x.want
    return x


def start_slope(spec, seed):
    """Remainders at h and h/2, for the right gradient and for one half as large again."""
    x = start_loss(spec, seed)
    gradient = 1.5 * x.grad_query if spec.mask else x.grad_query

    def remainder_at(h):
        return abs(x.loss(x.query + h * x.direction) - x.loss(x.query)
                   - h * np.sum(gradient * x.direction))

    x.coarse, x.fine = remainder_at(1 / 64), remainder_at(1 / 128)
    return x
