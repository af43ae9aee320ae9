"""Other people's tables, turned into the paper's table of 2k+1 rows for -k .. k.

Each convention is a pair of functions, to the paper's table and back.
"""

import numpy as np


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

    Examples
    --------
    >>> from_zero_window(np.array([[1], [2], [3]])).T
    array([[0, 1, 2, 3, 0]])
    """
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
    largest = np.abs(table[..., [0, -1], :]).max()
    if largest != 0:
        raise ValueError(
            f"the end rows must be zero to drop them, their largest element is {largest:g}: "
            f"this table clips, so a zero-outside window cannot express it"
        )
    return table[..., 1:-1, :]
