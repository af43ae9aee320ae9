"""Heads are blocks of columns: split the last axis among them, and put them side by side again."""

from relpos_np.validate import whole_number


def split_heads(projected, num_heads):
    """(batch, length, num_heads * head_dim) to (batch, num_heads, length, head_dim).

    Each head owns a contiguous block of head_dim columns. The transpose is needed: reshaping
    straight to the final shape would deal out positions to heads.

    Parameters
    ----------
    projected : ndarray, (batch, length, num_heads * head_dim)
    num_heads : int

    Returns
    -------
    ndarray, (batch, num_heads, length, head_dim)

    Raises
    ------
    ValueError
        If the last axis does not divide among the heads.

    Examples
    --------
    >>> import numpy as np
    >>> split_heads(np.array([[[1, 2, 3, 4], [5, 6, 7, 8]]]), num_heads=2)
    array([[[[1, 2],
             [5, 6]],
    <BLANKLINE>
            [[3, 4],
             [7, 8]]]])
    """
    if projected.ndim != 3 or projected.shape[2] % whole_number("num_heads", num_heads, 1):
        raise ValueError(
            f"projected has shape {projected.shape}; {num_heads} heads need (batch, length, "
            f"num_heads * head_dim)"
        )
    batch, length, width = projected.shape
    return projected.reshape(batch, length, num_heads, width // num_heads).transpose(0, 2, 1, 3)


def merge_heads(heads):
    """(batch, num_heads, length, head_dim) to (batch, length, num_heads * head_dim).

    The inverse of `split_heads`, and since both only move numbers, its backward too.

    Examples
    --------
    >>> import numpy as np
    >>> merge_heads(np.array([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]))
    array([[[1, 2, 3, 4],
            [5, 6, 7, 8]]])
    """
    batch, num_heads, length, head_dim = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch, length, num_heads * head_dim)
