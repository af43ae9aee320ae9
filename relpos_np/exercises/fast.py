"""Notebook 6, first half: the same numbers without a vector per pair."""

import numpy as np

from relpos_np.exercises.exercise import CROSS, SHORT, SQUARE, Exercise, names, start
from relpos_np.verify import formula
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake
from relpos_np.verify.specs import Spec

# The last one is where memory is measured: one vector per pair would be 3.7 MB.
WIDE = Spec("wide", "many pairs, wide vectors", batch=1, num_heads=1, query_len=120, key_len=120,
            head_dim=32, value_dim=32, k=4)
SITUATIONS = (SQUARE, CROSS, SHORT, WIDE)


def half_of_the_pairs(x):
    """Half of what one vector per pair takes."""
    return x.query_len * x.key_len * x.head_dim * 8 // 2


def start_skew(spec, seed):
    """Numbers per query and distance, the farthest key on the left first."""
    x = start(spec, seed)
    distances = np.arange(x.query_len + x.key_len - 1) - (x.query_len - 1)
    rows = np.clip(distances, -x.k, x.k) + x.k
    # Different in every place, so that no shift goes unseen: products, plus the place itself.
    x.by_distance = np.einsum("bhid,rd->bhir", x.query, x.relative_key_table)[..., rows]
    x.by_distance += np.arange(x.by_distance.shape[-1])
    return x


def skewed(x):
    """``out[i, j] = by_distance[i, j - i + query_len - 1]``, by index: slow and plain."""
    return taken(x, lambda i, j: j - i + x.query_len - 1)


def taken(x, column):
    i, j = np.arange(x.query_len)[:, np.newaxis], np.arange(x.key_len)
    return x.by_distance[..., i, column(i, j) % x.by_distance.shape[-1]]


def read_without_padding(x):
    lines = x.by_distance.reshape(*x.by_distance.shape[:2], -1)
    return lines.reshape(x.by_distance.shape)[..., x.query_len - 1 :]


def sliced_from_the_left(x):
    outer, width = x.by_distance.shape[:2], x.by_distance.shape[-1]
    padded = np.concatenate([x.by_distance, 0 * x.by_distance[..., :1]], axis=-1)
    lines = padded.reshape(*outer, -1)[..., : x.query_len * width]
    return lines.reshape(*outer, x.query_len, width)[..., : x.key_len]


def last_weight_wins(x):
    by_row = np.zeros((*x.weights.shape[:3], x.num_rows), dtype=x.weights.dtype)
    by_row[..., np.arange(x.query_len)[:, np.newaxis], x.index] += x.weights
    return np.einsum("bhir,hrd->bhid", by_row, x.value_rows)


EXERCISES = (
    Exercise(
        "6.1", "relative logits by table row", "q_i . aK[index_ij], one product per row",
        function="relative_logits_by_row",
        takes=names("query", "relative_key_table", "index"), gives=names("relative_logits"),
        axes="bhij", steps=(formula.relative_key, formula.relative_logits), situations=SITUATIONS,
        mistakes=("K_index_transposed", "aK_flipped_only", "rel_key_missing", "scalar_bias",
                  "rel_subtracted", "a_in_content_dim_mean"),
        memory=half_of_the_pairs,
        hints=(
            "There are only 2k+1 different rows. How many different products can a query have?",
            "by_row[b, h, i, r] = query_i . table_r, then relative_logits_ij = by_row[i, "
            "index_ij].",
            "query @ table.T, then np.take_along_axis(by_row, index[np.newaxis, np.newaxis], "
            "axis=-1).",
        ),
    ),
    Exercise(
        "6.2", "relative output by table row", "sum_r (sum of weights_ij with index_ij = r) aV[r]",
        function="relative_output_by_row",
        takes=names("weights", "relative_value_table", "index"), gives=names("relative_output"),
        axes="bhid", steps=(formula.relative_value, formula.relative_output),
        situations=SITUATIONS,
        mistakes=("V_index_transposed", "aV_flipped_only", "rel_value_missing",
                  "rel_value_unweighted", "rel_value_mean", "rel_value_scaled_value_dim"),
        own=(
            Mistake(
                "last_weight_wins", {"relative_output": last_weight_wins}, MISTAKE,
                wrote="by_row[..., i, index] += weights",
                why="Of the keys that share a row only the last one counts: NumPy reads, adds, "
                    "then writes. Add row by row, or use np.add.at.",
            ),
        ),
        memory=half_of_the_pairs,
        hints=(
            "Keys that read the same row can share one multiplication: add their weights first.",
            "by_row[b, h, i, r] = sum of weights_ij with index_ij = r, then by_row @ table.",
            "For each row r: (weights * (index == r)).sum(axis=-1). 2k+1 is small.",
        ),
    ),
    Exercise(
        "6.3", "skew", "out[i, j] = by_distance[i, j - i + query_len - 1]",
        function="skew",
        takes=names("by_distance"), gives=lambda x: x.skewed, axes="bhij", steps=(skewed,),
        situations=(SQUARE, CROSS, SHORT), start=start_skew,
        own=(
            Mistake(
                "no_padding", {"skewed": read_without_padding}, MISTAKE,
                wrote="by_distance[..., query_len - 1 :]",
                why="Without a column more, reading in lines of the old width moves nothing.",
            ),
            Mistake(
                "sliced_from_the_left", {"skewed": sliced_from_the_left}, MISTAKE,
                wrote="lines[..., : key_len]",
                why="After the shift the keys begin in column query_len - 1.",
            ),
            Mistake(
                "skewed_the_other_way",
                {"skewed": lambda x: taken(x, lambda i, j: i - j + x.key_len - 1)}, MISTAKE,
                wrote="by_distance[i, i - j + key_len - 1]",
                why="Left and right have changed places.",
            ),
        ),
        hints=(
            "Lesson 9. Row i must move i places; reading the same memory in shorter lines does it.",
            "Add a column of zeros, flatten each (i, c) block, keep query_len * width numbers, "
            "read them as (query_len, width), and take the columns from query_len - 1 on.",
            "np.concatenate with zeros of by_distance[..., :1]; width = by_distance.shape[-1], "
            "query_len = by_distance.shape[-2].",
        ),
    ),
)
