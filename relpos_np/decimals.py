"""Floats as decimals, exactly, and the 60-digit context in which the oracle computes with them."""

from decimal import Context, Decimal

import numpy as np

# No traps: NaN goes through, as it does in floating point. Nothing of the caller's own context.
CONTEXT = Context(prec=60, traps=[])
LARGEST_INPUT = 1e6


def select(array, b, h):
    """The part of an input that head h of batch entry b reads: tables have no batch axis."""
    if array.ndim == 4:
        return array[b, h]
    return array[h] if array.ndim == 3 else array


def one_head(arrays, b, h):
    """Inputs of one head as matrices of Decimals."""
    return [None if array is None else exact(select(array, b, h)) for array in arrays]


def exact(matrix):
    """A matrix of floats as one of Decimals, which hold every float exactly."""
    decimals = np.empty(matrix.shape, dtype=object)
    for index in np.ndindex(matrix.shape):
        decimals[index] = Decimal(float(matrix[index]))
    return decimals


def refuse_what_60_digits_may_not_hold(*arrays):
    """Refuse inputs other than float64, or so large that small terms of a sum would be lost."""
    for array in arrays:
        if array is None:
            continue
        if array.dtype != np.float64:
            raise TypeError(f"the oracle takes float64 only, got {array.dtype}: .astype(float)")
        largest = np.abs(array[np.isfinite(array)]).max(initial=0)
        if largest > LARGEST_INPUT:
            raise ValueError(
                f"an input of {largest:g} is beyond {LARGEST_INPUT:g}, where {CONTEXT.prec} "
                f"digits may not hold every sum: scale the inputs down"
            )


def pair_mask(mask, query, key, b, h):
    """The mask of one head's pairs, (query_len, key_len), or None."""
    shape = (*query.shape[:3], key.shape[2])
    return None if mask is None else np.broadcast_to(mask, shape)[b, h]
