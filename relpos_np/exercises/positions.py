"""Notebook 1: relative positions, clip, table rows, lookup."""

import numpy as np

from relpos_np.exercises.exercise import CROSS, LONG, OFFSET, SHORT, SQUARE, Exercise, seen
from relpos_np.exercises.retold import NO_SIDES, ONE_ROW
from relpos_np.exercises.slips import SLIPS
from relpos_np.verify import formula
from relpos_np.verify.formula import RIGHT

# Distances that no clip touches, so that the row minus k is the distance itself.
WIDE = tuple(spec._replace(k=20) for spec in (SQUARE, CROSS, OFFSET, SHORT))
# Another k than the lesson's, and pairs beyond it.
OTHER_K = (SQUARE._replace(id="far", k=4), SQUARE._replace(id="near", k=1))
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
        function="relative_position",
        takes=lengths, gives=distance, axes="ij",
        steps=(formula.i, formula.index), situations=WIDE,
        mistakes=("sign_flip", "abs_distance", "off_by_one_ahead", "off_by_one_behind",
                  "no_query_offset", "absolute_key_index", "absolute_query_index",
                  "prefill_last_position", "prefill_one_row", "chunk_one_row"),
        reads=(("absolute_key_index", row), ("absolute_query_index", row)),
        shortened=(("clip(", ""), (", -k, k) + k", ""), ("min(", ""), (", k) + k", ""),
                   (", 2k)", "")),
        retold=(NO_SIDES, *ONE_ROW,
                ("absolute_query_index", "The query's absolute position in place of a distance.")),
        own=SLIPS["1.1"],
        hints=(
            "Step 1 of lesson 2. Queries go down the rows, keys along the columns, and the first "
            "query may stand at another position than 0.",
            "A row minus a column is a matrix: array[np.newaxis, :] is a row, array[:, np.newaxis] "
            "a column.",
            "Element (i, j) is j - (query_start + i): np.arange(key_len) as a row, query_start + "
            "np.arange(query_len) as a column.",
        ),
    ),
    Exercise(
        "1.2", "clip", "clip(j - i, -k, k)",
        function="clip",
        takes=lambda x: {"relative_position": x.j - x.i, "k": x.k},
        gives=distance, axes="ij",
        steps=(formula.index,), situations=(SQUARE, CROSS, SHORT, *OTHER_K),
        mistakes=("sign_flip", "clip_k_minus_1", "clip_k_plus_1", "no_clip", "abs_distance",
                  "clip_0_2k_unshifted", "upper_clip_only", "lower_clip_only"),
        reads=(("clip_0_2k_unshifted", row),),
        shortened=((" + k", ""),),
        retold=(
            NO_SIDES,
            ("clip_k_minus_1", "Position k is not beyond k: it stays k."),
            ("clip_k_plus_1", "Position k + 1 is beyond k: it becomes k."),
            ("no_clip", "Positions beyond k stay as they are."),
            ("clip_0_2k_unshifted", "Keys to the left have negative positions, down to -k."),
            ("upper_clip_only", "Keys far to the left are not clipped."),
            ("lower_clip_only", "Keys far to the right are not clipped."),
        ),
        own=SLIPS["1.2"],
        hints=(
            "Step 2 of lesson 2. Whatever is further than k counts as k, on both sides.",
            "np.clip(array, low, high) does both sides at once.",
            "clip(x, k) = max(-k, min(k, x)), element by element: low is -k, high is k.",
        ),
    ),
    Exercise(
        "1.3", "table row", RIGHT["index"],
        function="table_row",
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
        function="table_index",
        takes=lambda x: {**lengths(x), "k": x.k}, gives=row, axes="ij",
        steps=(formula.i, formula.index), situations=(SQUARE, CROSS, OFFSET, SHORT, LONG),
        retold=ONE_ROW,
        own=SLIPS["1.4"],
        hints=(
            "Steps 1, 2 and 3 in one function: your answers to 1.1, 1.2 and 1.3 in a row.",
            "Call your three functions, each on what the one before returned.",
            "Element (i, j) is clip(j - (query_start + i), -k, k) + k.",
        ),
    ),
    Exercise(
        "1.5", "lookup", "a_ij = table[index_ij]",
        function="lookup",
        takes=lambda x: {"table": x.relative_key_table, "index": x.index},
        gives=lambda x: seen(x, "relative_key"), axes="ijd",
        steps=(formula.relative_key,), situations=(SQUARE, CROSS, SHORT),
        shortened=(("aK_ij = aK[", "a_ij = table["),), own=SLIPS["1.5"],
        hints=(
            "Step 4 of lesson 2: one vector for every pair, shape (query_len, key_len, head_dim).",
            "NumPy takes a whole matrix of row numbers between the brackets.",
            "a_ij = table[index_ij], for all i and j at once.",
        ),
    ),
    Exercise(
        "1.6", "lookup, a table per head", "a_hij = tables[h, index_ij]",
        function="lookup_per_head",
        takes=lambda x: {"tables": x.relative_key_table, "index": x.index},
        gives=lambda x: x.relative_key, axes="hijd",
        steps=(formula.relative_key,), situations=PER_HEAD,
        shortened=(("aK_ij = aK[", "a_hij = tables[h, "),), own=SLIPS["1.6"],
        hints=(
            "As 1.5, but `tables` is (num_heads, 2k+1, head_dim) and the result has a head axis "
            "in front.",
            "One head is 1.5 again. A colon in a place between the brackets takes all there is.",
            "a_hij = tables[h, index_ij]: tables[h][index] for one head, tables[:, index] for all.",
        ),
    ),
)
