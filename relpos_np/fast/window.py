"""Which distances occur, and which table row each of them reads."""

import numpy as np

from relpos_np.positions import clip_relative_position, first_query_position, table_index


def table_rows(relative_key_table, relative_value_table):
    """2k+1, read off the tables that were given; one row if none was."""
    tables = (relative_key_table, relative_value_table)
    return next((table.shape[-2] for table in tables if table is not None), 1)


def rows_of_distances(query_len, key_len, query_start, num_rows):
    """The table row of every distance that occurs, from the past to the future.

    Parameters
    ----------
    query_len, key_len : int
    query_start : int or None
    num_rows : int
        2k+1.

    Returns
    -------
    ndarray of int, (query_len + key_len - 1,)
        Entry c is for ``j - i = c - (query_start + query_len - 1)``: from the first key seen by
        the last query to the last key seen by the first.

    Examples
    --------
    Three queries, three keys: distances -2 .. 2, of which k = 1 tells three apart.

    >>> rows_of_distances(3, 3, None, num_rows=3)
    array([0, 0, 1, 2, 2])
    """
    last_query = first_query_position(query_len, key_len, query_start) + query_len - 1
    distance = np.arange(max(query_len, 1) + key_len - 1) - last_query
    return table_index(clip_relative_position(distance, num_rows // 2), num_rows // 2)
