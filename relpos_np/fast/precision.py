"""Tiled, part 9: in which numbers the tiles compute.

Weights are divided by their sum after the product with the values, so on the way they are as
large as exponentials get: float16, which ends at e^11, has no room for them, and BLAS has no
products for it. Such inputs are computed in float32, and the results rounded. BLAS knows only
the machine's own byte order, too.
"""

import numpy as np


def in_working_precision(*arrays):
    """The arrays in the machine's byte order and at least float32; themselves if they are so.

    Parameters
    ----------
    arrays : ndarray or None

    Returns
    -------
    list of ndarray or None

    Raises
    ------
    TypeError
        For complex numbers; it names the rung to use for the complex step.

    Examples
    --------
    >>> half, double = in_working_precision(np.ones(2, "f2"), np.ones(2, ">f8"))
    >>> half.dtype, double.dtype
    (dtype('float32'), dtype('float64'))
    """
    if any(np.iscomplexobj(array) for array in arrays):
        raise TypeError(
            "tiled takes real numbers: its maximum and its arrays used again are not for complex "
            "ones; gather_forward takes both"
        )
    return [
        array if array is None else array.astype(np.promote_types(array.dtype, "f4"), copy=False)
        for array in arrays
    ]
