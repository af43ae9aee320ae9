"""Arrays of floating-point numbers, boolean masks, upstream gradients."""

import numpy as np


def same_precision(arrays):
    """Refuse arrays that are not floating point, or not all of one precision.

    Complex arrays count as their real precision: the complex-step check perturbs one input and
    leaves the others real.

    Parameters
    ----------
    arrays : dict of str to ndarray

    Raises
    ------
    TypeError
    """
    for name, array in arrays.items():
        # Their own arithmetic would be another function: masks that nobody reads, * as matmul.
        if not isinstance(array, np.ndarray) or isinstance(array, (np.ma.MaskedArray, np.matrix)):
            raise TypeError(
                f"{name} is a {type(array).__name__}, not a plain NumPy array: "
                f"np.asarray({name}, float)"
            )
        if not np.issubdtype(array.dtype, np.inexact):
            raise TypeError(
                f"{name} has dtype {array.dtype}, which cannot hold weights between 0 and 1: "
                f"{name}.astype(np.float64)"
            )
    precisions = {name: str(np.finfo(array.dtype).dtype) for name, array in arrays.items()}
    if len(set(precisions.values())) > 1:
        listing = ", ".join(f"{name} {dtype}" for name, dtype in precisions.items())
        raise TypeError(f"precisions differ ({listing}): cast all to one with .astype")


def boolean_mask(mask):
    """Refuse a mask that is not a boolean array: additive masks would be read inverted."""
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
        return
    kind = f"an array of {mask.dtype}" if isinstance(mask, np.ndarray) else type(mask).__name__
    raise TypeError(
        f"mask must be a boolean array, True = may attend, got {kind}: an additive mask of 0 and "
        f"-inf is mask == 0, a 0/1 mask is mask.astype(bool), a list is np.array(mask, bool)"
    )


def gradient_like(name, grad, like_name, like):
    """Refuse an upstream gradient that has not shape and precision of what it belongs to."""
    if np.shape(grad) != like.shape:
        raise ValueError(
            f"{name} has shape {np.shape(grad)}, {like_name} has {like.shape}: the gradient of a "
            f"loss has the shape of what it is taken by"
        )
    same_precision({name: grad, like_name: like})
