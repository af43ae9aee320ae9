"""Whole numbers: lengths, heads, positions, and arrays of them."""

import operator

import numpy as np

LARGEST = 2**31  # far beyond any sequence, and no sum of a few of them overflows


def whole_number(name, value, minimum=None):
    """`value` as a Python int, or an error that names it: 2.5, "3" and True are not lengths."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {number}")
    if abs(number) > LARGEST:
        raise ValueError(f"{name} must lie within -2**31 .. 2**31, got {number}")
    return number


def whole_numbers(name, values):
    """`values` as an integer array that does not overflow, or an error that names its dtype."""
    array = np.asarray(values)
    if not np.issubdtype(array.dtype, np.integer) and array.size:
        raise TypeError(
            f"{name} has dtype {array.dtype}; positions and table rows are integers: "
            f"{name}.astype(int) if they are whole"
        )
    return array.astype(np.intp)


def table_rows(index, num_rows):
    """Table rows as integers within ``0 .. num_rows-1``; an IndexError for others.

    NumPy would let -1 read the last row, so that a forgotten shift gives plausible numbers.
    """
    index = whole_numbers("index", index)
    if index.size and (index.min() < 0 or index.max() >= num_rows):
        raise IndexError(
            f"rows {index.min()} .. {index.max()} were asked of a table with rows "
            f"0 .. {num_rows - 1}: clip and shift the positions first (see positions.py)"
        )
    return index


def first_query_position(query_len, key_len, query_start=None):
    """`query_start` as an int: 0 if nothing was said about equal lengths, an error otherwise.

    >>> first_query_position(3, 3), first_query_position(1, 5, query_start=4)
    (0, 4)
    """
    if query_start is None:
        if query_len != key_len:
            cached = key_len - query_len
            hint = (
                f"a KV cache, whose queries are the newest tokens, wants query_start = "
                f"key_len - query_len = {cached}; "
            ) if cached > 0 else ""
            raise ValueError(
                f"query_len {query_len} and key_len {key_len} differ, so query_start must say "
                f"which key position the first query stands at: {hint}queries numbered from the "
                f"first key want 0"
            )
        return 0
    return whole_number("query_start", query_start)
