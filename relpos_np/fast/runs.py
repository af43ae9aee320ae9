"""Sums over runs: a query's keys come in the order of their table rows.

Along a line of keys ``clip(j - i, -k, k)`` never falls, so the pairs of one row stand side by
side. The sum of each run is one `np.add.reduceat`, with no index per pair to add by.
"""

import numpy as np


def run_starts(rows):
    """Where a new run begins: (n,) non-decreasing ints to the (runs,) first positions.

    >>> run_starts(np.array([0, 0, 0, 1, 3, 3]))
    array([0, 3, 4])
    """
    return np.flatnonzero(np.diff(rows, prepend=-1))


def sum_runs(numbers, rows, num_rows):
    """Sum the numbers of each row: ``out[..., r] = sum of numbers[..., n] with rows[n] = r``.

    Parameters
    ----------
    numbers : ndarray, (..., n)
    rows : ndarray of int, (n,)
        Non-decreasing, within ``0 .. num_rows - 1``.
    num_rows : int

    Returns
    -------
    ndarray, (..., num_rows)
        0 for a row that is not there.

    Examples
    --------
    >>> sum_runs(np.array([1, 10, 100, 5, 7, 70]), np.array([0, 0, 0, 1, 3, 3]), num_rows=4)
    array([111,   5,   0,  77])
    """
    sums = np.zeros((*numbers.shape[:-1], num_rows), dtype=numbers.dtype)
    starts = run_starts(rows)
    if starts.size:
        sums[..., rows[starts]] = np.add.reduceat(numbers, starts, axis=-1)
    return sums
