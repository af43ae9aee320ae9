"""VITS, Piper, Coqui: a window w on both sides, and no relative term at all outside it."""

import numpy as np

from relpos_np.conventions.rows import odd_rows


def from_zero_window(window_table):
    """A window table, no relative term outside it, as a table of the paper.

    Where the paper repeats the end row beyond k, the VITS family (VITS, Piper, Coqui) uses
    nothing beyond its window w. A row of zeros at each end says the same: k = w + 1, and every
    clipped pair reads zeros.

    Parameters
    ----------
    window_table : ndarray, (2w+1, head_dim) or (num_heads, 2w+1, head_dim)
        Row r is for ``j - i = r - w``.

    Returns
    -------
    ndarray, (2w+3, head_dim) or (num_heads, 2w+3, head_dim)

    Raises
    ------
    ValueError
        If the number of rows is even.

    Examples
    --------
    >>> from_zero_window(np.array([[1], [2], [3]])).T
    array([[0, 1, 2, 3, 0]])
    """
    odd_rows(window_table)
    row_axis = window_table.ndim - 2
    padding = [(1, 1) if axis == row_axis else (0, 0) for axis in range(window_table.ndim)]
    return np.pad(window_table, padding)


def to_zero_window(table):
    """The inverse of `from_zero_window`.

    Raises
    ------
    ValueError
        If an end row is not zero: then pairs beyond the window do have a relative term, and no
        window table can say so.

    Examples
    --------
    >>> to_zero_window(np.array([[0], [1], [2], [3], [0]])).T
    array([[1, 2, 3]])
    """
    if odd_rows(table) < 3:
        raise ValueError("a table of 1 row has no end rows to drop: it must have at least 3")
    largest = np.abs(table[..., [0, -1], :]).max()
    if largest != 0:
        raise ValueError(
            f"the end rows must be zero to drop them, their largest element is {largest:g}: "
            f"this table clips, so a zero-outside window cannot express it"
        )
    return table[..., 1:-1, :]


def grad_to_zero_window(grad_table):
    """Gradient of the window table: that of the paper's table without the two padded rows.

    The pairs outside the window do send a gradient to those rows, but the rows are constants.

    Examples
    --------
    >>> grad_to_zero_window(np.array([[9.0], [1.0], [2.0], [3.0], [9.0]])).T
    array([[1., 2., 3.]])
    """
    odd_rows(grad_table)
    return grad_table[..., 1:-1, :]
