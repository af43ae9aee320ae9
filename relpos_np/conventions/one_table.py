"""OpenNMT-py: one table serves as a^K and as a^V."""

import numpy as np


def from_one_table(table):
    """The two tables of the paper that say the same as one table for both terms.

    Parameters
    ----------
    table : ndarray, (2k+1, head_dim) or (num_heads, 2k+1, head_dim)

    Returns
    -------
    relative_key_table, relative_value_table : ndarray, the same shape
        Both are the argument itself.

    Examples
    --------
    >>> from_one_table(np.array([[1], [2], [3]]))[1].T
    array([[1, 2, 3]])
    """
    return table, table


def to_one_table(relative_key_table, relative_value_table):
    """The inverse of `from_one_table`.

    Raises
    ------
    ValueError
        If the two tables differ: then one table cannot be both.
    """
    if relative_key_table.shape != relative_value_table.shape:
        raise ValueError(
            f"the tables have shapes {relative_key_table.shape} and {relative_value_table.shape}: "
            f"one table cannot be both"
        )
    largest = np.abs(relative_key_table - relative_value_table).max(initial=0)
    if largest != 0:
        raise ValueError(f"the tables differ by up to {largest:g}: one table cannot be both")
    return relative_key_table


def grad_to_one_table(grad_relative_key_table, grad_relative_value_table):
    """Gradient of the one table: it is read in two places, so the two gradients add up.

    Examples
    --------
    >>> grad_to_one_table(np.array([[1.0]]), np.array([[10.0]]))
    array([[11.]])
    """
    return grad_relative_key_table + grad_relative_value_table
