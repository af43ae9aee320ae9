"""The masked softmax over keys, and its backward.

Safe for complex numbers, which the complex-step gradient check needs: only the shift by the
row maximum looks at real parts, and a shift changes nothing in the result.
"""

import numpy as np

from relpos_np import validate


def mask_scores(scores, mask):
    """Scores with every pair that may not attend set to minus infinity.

    Parameters
    ----------
    scores : ndarray, (..., query_len, key_len)
    mask : ndarray of bool or None, broadcastable to `scores`
        True = may attend. None = all may.

    Returns
    -------
    ndarray, the shape and dtype of `scores`
        `scores` itself if there is no mask.

    Raises
    ------
    TypeError
        If the mask is not boolean: 0 of an additive mask would be read as hidden.

    Examples
    --------
    >>> mask_scores(np.array([[3.0, 4.0]]), np.array([[True, False]]))
    array([[  3., -inf]])
    """
    if mask is None:
        return scores
    validate.boolean_mask(mask)
    return np.where(mask, scores, -np.inf)


def softmax(scores, mask=None):
    """Weights of the keys for each query: positive, and their sum over keys is 1.

    Parameters
    ----------
    scores : ndarray, (..., query_len, key_len)
        The paper's ``e_ij``; minus infinity where a pair may not attend.
    mask : ndarray of bool, optional, broadcastable to `scores`
        True = may attend.

    Returns
    -------
    ndarray, the shape and dtype of `scores`
        The paper's ``alpha_ij``. A row in which no key may be attended, all of it minus
        infinity, is all 0.

    Raises
    ------
    TypeError
        If the scores are not floating point, or the mask is not boolean.

    Notes
    -----
    Shaw et al. 2018, section 2.2: ``alpha_ij = exp(e_ij) / sum_k exp(e_ik)``. The row maximum
    is subtracted first, so that no exponential overflows. A NaN or +inf among the scores that
    are not masked makes its whole row NaN.

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0, 4.0]])).round(3)
    array([[0.125, 0.375, 0.5  ]])
    >>> softmax(np.zeros((2, 2)), mask=np.array([[True, False], [False, False]]))
    array([[1., 0.],
           [0., 0.]])
    """
    validate.same_precision({"scores": scores})
    scores = mask_scores(scores, mask)
    row_max = scores.real.max(axis=-1, keepdims=True, initial=-np.inf)
    # A fully masked row has maximum -inf, and -inf - -inf would be NaN: shift it by 0 instead.
    row_max = np.where(row_max == -np.inf, 0, row_max).astype(row_max.dtype)
    exponentials = np.exp(scores - row_max)
    row_sum = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(row_sum == 0, 1, row_sum).astype(row_sum.dtype)


def softmax_backward(grad_weights, weights):
    """Gradient of the scores, from the gradient of the weights.

    Parameters
    ----------
    grad_weights, weights : ndarray, (..., query_len, key_len)

    Returns
    -------
    ndarray, (..., query_len, key_len)
        0 wherever the weight is 0, hence at every masked pair and in every fully masked row (as
        long as `grad_weights` is finite: 0 times NaN is NaN, and stays visible).

    Raises
    ------
    ValueError, TypeError
        If the two differ in shape or precision.

    Notes
    -----
    ``dL/de_ij = alpha_ij (dL/dalpha_ij - sum_k alpha_ik dL/dalpha_ik)``. The sum is what makes
    each row of the result add up to 0: raising all scores of a row alike changes no weight.

    Examples
    --------
    >>> softmax_backward(np.array([[1.0, 0.0]]), np.array([[0.25, 0.75]]))
    array([[ 0.1875, -0.1875]])
    """
    validate.gradient_like("grad_weights", grad_weights, "weights", weights)
    row_sum = (weights * grad_weights).sum(axis=-1, keepdims=True)
    return weights * (grad_weights - row_sum)
