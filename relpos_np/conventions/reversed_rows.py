"""lucidrains' conformer, BERT's relative_key: the distance is i - j, so the rows run backwards."""

from relpos_np.conventions.rows import odd_rows


def from_reversed(reversed_table):
    """A table whose row r is for ``i - j = r - k``, as a table of the paper.

    Parameters
    ----------
    reversed_table : ndarray, (2k+1, head_dim) or (num_heads, 2k+1, head_dim)
        BERT has 2M-1 rows for at most M positions, and an IndexError beyond: k = M - 1, which
        the paper's clip never reaches as long as there are at most M tokens.

    Returns
    -------
    ndarray, the same shape
        A view: the rows in reverse.

    Raises
    ------
    ValueError
        If the number of rows is even.

    Examples
    --------
    >>> import numpy as np
    >>> from_reversed(np.array([[1], [2], [3]])).T
    array([[3, 2, 1]])
    """
    odd_rows(reversed_table)
    return reversed_table[..., ::-1, :]


def to_reversed(table):
    """The inverse of `from_reversed`, which is the same reversal; always possible."""
    return from_reversed(table)


def grad_to_reversed(grad_table):
    """Gradient of the reversed table: a reversal carries gradients as it carries rows."""
    return from_reversed(grad_table)
