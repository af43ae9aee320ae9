"""Step 4: fetch one table row per pair of positions, and send gradients back to the rows."""

import numpy as np

from relpos_np.validate import table_rows


def lookup(table, index):
    """The row of `table` for every pair: ``a_ij = table[index_ij]``.

    Parameters
    ----------
    table : ndarray, (2k+1, head_dim) or (num_heads, 2k+1, head_dim)
        The paper's ``w^K`` or ``w^V``, shared by the heads or one per head.
    index : ndarray of int, (query_len, key_len)
        Rows, each within ``0 .. 2k``.

    Returns
    -------
    ndarray, (query_len, key_len, head_dim) or (num_heads, query_len, key_len, head_dim)
        The paper's ``a^K_ij`` or ``a^V_ij``.

    Raises
    ------
    IndexError
        If a row lies outside the table; negative rows too, which NumPy would wrap.

    Notes
    -----
    Shaw et al. 2018, section 3.2: ``a_ij = w_{clip(j - i, k)}``.

    Examples
    --------
    >>> lookup(np.array([[10, 11], [20, 21], [30, 31]]), np.array([[1, 2], [0, 1]]))
    array([[[20, 21],
            [30, 31]],
    <BLANKLINE>
           [[10, 11],
            [20, 21]]])
    """
    index = table_rows(index, table.shape[-2])
    return table[..., index, :]


def lookup_backward(grad_pairs, index, num_rows):
    """Gradient of the table: every pair adds its gradient to the row it had read.

    Parameters
    ----------
    grad_pairs : ndarray, (query_len, key_len, head_dim) or (num_heads, ...)
        Gradient of the loss with respect to what `lookup` returned.
    index : ndarray of int, (query_len, key_len)
        The rows that were read.
    num_rows : int
        2k+1.

    Returns
    -------
    ndarray, (num_rows, head_dim) or (num_heads, num_rows, head_dim)

    Raises
    ------
    IndexError, ValueError
        If a row lies outside the table, or the pairs are not those of the index.

    Notes
    -----
    ``grad_table[r] = sum over the pairs with index_ij = r of grad_pairs[i, j]``.
    ``grad_table[index] += grad_pairs`` is not that sum: NumPy reads all rows, adds, and writes
    all back, so of the pairs that share a row only the last one survives. ``np.add.at`` adds
    pair by pair.

    Examples
    --------
    Row 1 was read twice, row 2 never:

    >>> grad_pairs = np.array([[[1.0], [10.0]], [[100.0], [0.5]]])
    >>> lookup_backward(grad_pairs, index=np.array([[1, 0], [0, 1]]), num_rows=3)
    array([[110. ],
           [  1.5],
           [  0. ]])
    """
    index = table_rows(index, num_rows)
    if grad_pairs.shape[-3:-1] != index.shape:
        raise ValueError(
            f"grad_pairs has pairs {grad_pairs.shape[-3:-1]}, index has {index.shape}: one row "
            f"per pair"
        )
    head_axes, head_dim = grad_pairs.shape[:-3], grad_pairs.shape[-1]
    grad_table = np.zeros((*head_axes, num_rows, head_dim), dtype=grad_pairs.dtype)
    np.add.at(grad_table, (..., index, slice(None)), grad_pairs)
    return grad_table
