"""What all conventions ask of a table: rows on the last axis but one, and as many as they say."""


def odd_rows(table):
    """The number of rows, which must be odd to have distance 0 in its middle.

    Raises
    ------
    ValueError
        If it is even.
    """
    num_rows = table.shape[-2]
    if num_rows % 2 == 0:
        raise ValueError(
            f"the table has {num_rows} rows; a table with distance 0 in its middle has an odd "
            f"number: is it a left/right table or a causal one?"
        )
    return num_rows
