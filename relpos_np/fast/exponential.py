"""Tiled, part 4: which exponential, and whether the maximum must be subtracted.

``exp(x) = 2^(x log2(e))``, and the factor log2(e) can join the 1/sqrt(head_dim) that the queries
are multiplied by anyway. So softmax may use the power that NumPy computes faster: where it has
vector code for exp2 (AVX-512 today) that takes half the time of exp, elsewhere exp is faster.

Softmax subtracts the maximum of each query's logits lest their exponentials overflow. Where none
can be large, that is a pass over all of them for nothing: ``|q . (k + w)| <= |q| (|k| + |w|)``.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.lib.introspect import opt_func_info

# With all logits within +-27 no weight vanishes, and exponentials up to 2^39 leave float32, which
# ends at 2^128, room for the number of keys and the size of the values.
SAFE_LOGIT = 27.0


class Exponential(NamedTuple):
    """How the logits of some heads become weights."""

    power: Callable
    logarithm: Callable  # its inverse
    logits_per_nat: float  # power(logits_per_nat * x) = exp(x)
    safe: bool  # no maximum need be subtracted


def choose_exponential(query, key, key_rows):
    """The exponential for logits ``q . (k + w) / sqrt(d)`` of these vectors, (heads, n, d)."""
    scale = 1 / math.sqrt(query.shape[2])
    safe = scale * longest(query) * (longest(key) + longest(key_rows)) <= SAFE_LOGIT  # False if NaN
    # Where weights can come out near 0, exp2 may be slow: there its vector code gives up.
    if safe and EXP2_IS_FAST:
        return Exponential(np.exp2, np.log2, 1 / math.log(2), safe)
    return Exponential(np.exp, np.log, 1.0, safe)


def longest(vectors):
    """Length of the longest of (heads, n, d) vectors; 0 if there is none."""
    return math.sqrt(np.einsum("hid,hid->hi", vectors, vectors).max(initial=0))


def has_vector_code(name):
    """Does this NumPy, on this processor, run more than the plain loop for the function?"""
    loops = opt_func_info(func_name=f"^{name}$").get(name, {})
    return any(not loop["current"].startswith("baseline") for loop in loops.values())


EXP2_IS_FAST = has_vector_code("exp2")
