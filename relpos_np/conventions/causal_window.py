"""tensor2tensor's Music Transformer, masked: rows for the past only, nothing further back."""

import numpy as np

from relpos_np.conventions.rows import odd_rows


def from_causal_window(window_table):
    """A table of m rows for ``j - i = -(m-1) .. 0`` as a table of the paper, k = m.

    Further back there is no relative term: a row of zeros. Keys to the right are hidden by the
    causal mask without which such a table has no meaning; their rows are zeros too.

    Parameters
    ----------
    window_table : ndarray, (m, head_dim) or (num_heads, m, head_dim)
        Row r is for ``j - i = r - (m-1)``; the last row is for distance 0.

    Returns
    -------
    ndarray, (2m+1, head_dim) or (num_heads, 2m+1, head_dim)

    Examples
    --------
    >>> from_causal_window(np.array([[1], [2]])).T
    array([[0, 1, 2, 0, 0]])
    """
    row_axis, num_rows = window_table.ndim - 2, window_table.shape[-2]
    padding = [(1, num_rows) if axis == row_axis else (0, 0) for axis in range(window_table.ndim)]
    return np.pad(window_table, padding)


def to_causal_window(table):
    """The inverse of `from_causal_window`.

    Raises
    ------
    ValueError
        If the first row, or a row for keys to the right, is not zero.

    Examples
    --------
    >>> to_causal_window(np.array([[0], [1], [2], [0], [0]])).T
    array([[1, 2]])
    """
    k = odd_rows(table) // 2
    far, right = np.abs(table[..., :1, :]), np.abs(table[..., k + 1 :, :])
    if far.max() != 0:
        raise ValueError(
            f"the first row must be zero to drop it, its largest element is {far.max():g}: this "
            f"table clips, so a zero-outside window cannot express it"
        )
    if right.max(initial=0) != 0:
        raise ValueError(
            f"the rows for keys to the right must be zero to drop them, their largest element is "
            f"{right.max():g}: under a causal mask they are never read, so set table[..., {k + 1}:"
            f", :] = 0 first; without one, a causal table cannot express it"
        )
    return table[..., 1 : k + 1, :]


def grad_to_causal_window(grad_table):
    """Gradient of the causal window: the rows -(m-1) .. 0 of the paper's table.

    Examples
    --------
    >>> grad_to_causal_window(np.array([[9.0], [1.0], [2.0], [0.0], [0.0]])).T
    array([[1., 2.]])
    """
    k = odd_rows(grad_table) // 2
    return grad_table[..., 1 : k + 1, :]
