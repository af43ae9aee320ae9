"""Notebook 1: relative positions, clip, table rows, lookup."""

import numpy as np

from relpos_np.exercises.exercise import CROSS, LONG, OFFSET, SHORT, SQUARE, Exercise, seen
from relpos_np.verify import formula
from relpos_np.verify.formula import RIGHT
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake

# Distances that no clip touches, so that the row minus k is the distance itself.
WIDE = tuple(spec._replace(k=20) for spec in (SQUARE, CROSS, OFFSET, SHORT))
PER_HEAD = tuple(spec._replace(per_head=True) for spec in (SQUARE, CROSS, SHORT))


def lengths(x):
    return {"query_len": x.query_len, "key_len": x.key_len, "query_start": x.query_start}


def distance(x):
    """From a table row back to the position: what exercises before the shift return."""
    return x.index - x.k


def row(x):
    return x.index


EXERCISES = (
    Exercise(
        "1.1", "relative positions", "j - i, key minus query",
        takes=lengths, gives=distance, axes="ij",
        steps=(formula.i, formula.index), situations=WIDE,
        mistakes=("sign_flip", "abs_distance", "off_by_one_ahead", "off_by_one_behind",
                  "no_query_offset", "absolute_key_index", "absolute_query_index",
                  "prefill_last_position", "prefill_one_row", "chunk_one_row"),
        reads=(("absolute_key_index", row), ("absolute_query_index", row)),
        shortened=(("clip(", ""), (", -k, k) + k", ""), ("min(", ""), (", k) + k", ""),
                   (", 2k)", "")),
        hints=(
            "Step 1 of lesson 2. Queries go down the rows, keys along the columns, and the first "
            "query may stand at another position than 0.",
            "Element (i, j) is j - (query_start + i).",
            "np.arange(key_len) as one row, query_start + np.arange(query_len) as one column "
            "([:, np.newaxis]): subtracted, they make the matrix.",
        ),
    ),
    Exercise(
        "1.2", "clip", "clip(j - i, -k, k)",
        takes=lambda x: {"relative_position": x.j - x.i, "k": x.k},
        gives=distance, axes="ij", steps=(formula.index,), situations=(SQUARE, CROSS, SHORT),
        mistakes=("sign_flip", "clip_k_minus_1", "clip_k_plus_1", "no_clip", "abs_distance",
                  "clip_0_2k_unshifted", "upper_clip_only", "lower_clip_only"),
        reads=(("clip_0_2k_unshifted", row),),
        shortened=((" + k", ""),),
        hints=(
            "Step 2 of lesson 2. Whatever is further than k counts as k, on both sides.",
            "clip(x, k) = max(-k, min(k, x)), element by element.",
            "np.clip(array, low, high) does both sides at once.",
        ),
    ),
    Exercise(
        "1.3", "table row", RIGHT["index"],
        takes=lambda x: {"clipped_position": np.clip(x.j - x.i, -x.k, x.k), "k": x.k},
        gives=row, axes="ij", steps=(formula.index,), situations=(SQUARE, CROSS, SHORT),
        mistakes=("sign_flip", "no_shift", "abs_distance", "abs_distance_row0",
                  "shift_k_minus_1", "shift_k_plus_1"),
        hints=(
            "Step 3 of lesson 2. Rows count from 0; the table begins with the row for -k.",
            "Position -k is row 0, position 0 is row k, position k is row 2k.",
            "Add one number to the whole array.",
        ),
    ),
    Exercise(
        "1.4", "from lengths to rows", RIGHT["index"],
        takes=lambda x: {**lengths(x), "k": x.k}, gives=row, axes="ij",
        steps=(formula.i, formula.index), situations=(SQUARE, CROSS, OFFSET, SHORT, LONG),
        hints=(
            "Steps 1, 2 and 3 in one function: your answers to 1.1, 1.2 and 1.3 in a row.",
            "Element (i, j) is clip(j - (query_start + i), -k, k) + k.",
            "Call your three functions, each on what the one before returned.",
        ),
    ),
    Exercise(
        "1.5", "lookup", RIGHT["relative_key"],
        takes=lambda x: {"table": x.relative_key_table, "index": x.index},
        gives=lambda x: seen(x, "relative_key"), axes="ijd",
        steps=(formula.relative_key,), situations=(SQUARE, CROSS, SHORT),
        own=(
            Mistake(
                "index_transposed", {"relative_key": lambda x: x.key_rows[:, x.index.T]}, MISTAKE,
                wrote="aK_ij = aK[index_ji]",
                why="The index is read with its axes exchanged: each pair gets the vector of the "
                    "way back.",
            ),
            Mistake(
                "one_row_for_a_query",
                {"relative_key": lambda x: x.key_rows[:, x.index[:, :1]]
                    + np.zeros((1, *x.index.shape, 1))}, MISTAKE,
                wrote="aK_ij = aK[index_i0]",
                why="Every key of a query gets the vector of its first key.",
            ),
        ),
        hints=(
            "Step 4 of lesson 2: one vector for every pair, shape (query_len, key_len, head_dim).",
            "a_ij = table[index_ij].",
            "NumPy takes a whole matrix of row numbers between the brackets.",
        ),
    ),
    Exercise(
        "1.6", "lookup, a table per head", "aK_hij = aK[h, index_ij]",
        takes=lambda x: {"tables": x.relative_key_table, "index": x.index},
        gives=lambda x: x.relative_key, axes="hijd",
        steps=(formula.relative_key,), situations=PER_HEAD,
        own=(
            Mistake(
                "first_head_for_all",
                {"relative_key": lambda x: np.broadcast_to(
                    x.key_rows[0][x.index], (x.num_heads, *x.index.shape, x.head_dim))}, MISTAKE,
                wrote="aK_hij = aK[0, index_ij]",
                why="All heads read the first head's table.",
            ),
            Mistake(
                "head_axis_last",
                {"relative_key": lambda x: x.key_rows[:, x.index].transpose(1, 2, 0, 3)}, MISTAKE,
                wrote="an array (i, j, h, d)",
                why="The heads must come first: (h, i, j, d).",
            ),
        ),
        hints=(
            "As 1.5, but `tables` is (num_heads, 2k+1, head_dim) and the result has a head axis "
            "in front.",
            "a_hij = tables[h, index_ij].",
            "tables[h][index] for one head; a colon in the first place, tables[:, index], takes "
            "all heads at once.",
        ),
    ),
)
