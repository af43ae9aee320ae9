"""fairseq2, wav2vec2-bert: clipped at another distance to the left than to the right."""

import numpy as np

from relpos_np.validate import whole_number


def from_left_right(table, left, right):
    """A table for ``clip(j - i, -left, right)`` as a table of the paper, k = max(left, right).

    Beyond the short side's end everything reads its end row, which is what a symmetric table
    says with copies of that row. A causal decoder's k+1 rows are ``left=k, right=0``.

    Parameters
    ----------
    table : ndarray, (left+right+1, head_dim) or (num_heads, left+right+1, head_dim)
        Row r is for ``j - i = r - left``.
    left, right : int
        The farthest distances told apart.

    Returns
    -------
    ndarray, (2k+1, head_dim) or (num_heads, 2k+1, head_dim)

    Raises
    ------
    ValueError
        If the number of rows is not left+right+1.

    Examples
    --------
    >>> from_left_right(np.array([[1], [2], [3], [4]]), left=2, right=1).T
    array([[1, 2, 3, 4, 4]])
    """
    left, right = both_sides(left, right)
    if table.shape[-2] != left + right + 1:
        raise ValueError(
            f"the table has {table.shape[-2]} rows, left {left} and right {right} need "
            f"{left + right + 1}"
        )
    k = max(left, right)
    their_row = np.clip(np.arange(-k, k + 1), -left, right) + left
    return table[..., their_row, :]


def to_left_right(table, left, right):
    """The inverse of `from_left_right`.

    Raises
    ------
    ValueError
        If k is not max(left, right), or the rows beyond the short side are not all alike: then
        this table tells distances apart that the other cannot.

    Examples
    --------
    >>> to_left_right(np.array([[1], [2], [3], [4], [4]]), left=2, right=1).T
    array([[1, 2, 3, 4]])
    """
    left, right = both_sides(left, right)
    k = right_k(table, left, right)
    kept = table[..., k - left : k + right + 1, :]
    differs = np.argwhere((from_left_right(kept, left, right) != table).any(axis=-1))
    if differs.size:
        row = differs[0, -1]
        raise ValueError(
            f"row {row} (distance {row - k}) differs from the row of distance "
            f"{min(max(row - k, -left), right)}, but beyond left {left} and right {right} all "
            f"distances share one row: this table tells more of them apart"
        )
    return kept


def grad_to_left_right(grad_table, left, right):
    """Gradient of the left/right table: rows that are copies of one send it their sum.

    Examples
    --------
    >>> grad_to_left_right(np.array([[1.0], [2.0], [3.0], [4.0], [5.0]]), left=2, right=1).T
    array([[1., 2., 3., 9.]])
    """
    left, right = both_sides(left, right)
    k = right_k(grad_table, left, right)
    grad = grad_table[..., k - left : k + right + 1, :].copy()
    grad[..., 0, :] += grad_table[..., : k - left, :].sum(axis=-2)
    grad[..., -1, :] += grad_table[..., k + right + 1 :, :].sum(axis=-2)
    return grad


def both_sides(left, right):
    return whole_number("left", left, minimum=0), whole_number("right", right, minimum=0)


def right_k(table, left, right):
    """The k of a table of the paper, which must be max(left, right)."""
    k = max(left, right)
    if table.shape[-2] != 2 * k + 1:
        raise ValueError(
            f"the table has {table.shape[-2]} rows, left {left} and right {right} need "
            f"{2 * k + 1} (k = {k})"
        )
    return k
