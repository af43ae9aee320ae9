"""Tiled, part 4: which exponential.

``exp(x) = 2^(x log2(e))``, and the factor log2(e) joins the 1/sqrt(head_dim) that the queries are
multiplied by anyway. So the softmax may use whichever power NumPy computes faster: where NumPy
has vector code for exp2 (AVX-512 today) that takes half the time of exp; elsewhere exp is faster.
"""

import math

import numpy as np
from numpy.lib.introspect import opt_func_info


def has_vector_code(name):
    """Does this NumPy, on this processor, run more than the plain loop for the function?"""
    loops = opt_func_info(func_name=f"^{name}$").get(name, {})
    return any(not loop["current"].startswith("baseline") for loop in loops.values())


if has_vector_code("exp2"):
    power, logarithm, logits_per_nat = np.exp2, np.log2, 1 / math.log(2)
else:
    power, logarithm, logits_per_nat = np.exp, np.log, 1.0
