"""A. The relative index: the wrong table row for a pair of positions."""

import numpy as np

from relpos_np.verify.mistakes.mistake import CONVENTION, CORRECT, MISTAKE, Mistake

WRAPS = "A negative row wraps in NumPy and torch and raises in an embedding layer."

MISTAKES = (
    Mistake(
        "sign_flip", {"index": lambda x: np.clip(x.i - x.j, -x.k, x.k) + x.k}, CONVENTION,
        wrote="clip(i - j, -k, k) + k",
        why="Left and right trade places. Trained from scratch it learns the mirrored table and "
            "nobody notices; with someone else's weights every distance reads the wrong row.",
        repair="table = table[..., ::-1, :]  # both tables",
        seen_in="nntrainer PR 3982 (a dropped transpose); transformers BERT and lucidrains/"
                "conformer store their tables this way round",
    ),
    Mistake(
        "clip_k_minus_1",
        {"index": lambda x: np.clip(x.j - x.i, 1 - x.k, x.k - 1) + x.k}, MISTAKE,
        wrote="clip(j - i, -(k-1), k-1) + k",
        why="The two end rows are never read and never learn. Lengths up to k do not show it.",
    ),
    Mistake(
        "clip_k_plus_1",
        {"index": lambda x: np.clip(x.j - x.i, -x.k - 1, x.k + 1) + x.k}, MISTAKE,
        wrote="clip(j - i, -(k+1), k+1) + k",
        why=f"Far keys to the left ask for row -1, far keys to the right for row 2k+1. {WRAPS}",
    ),
    Mistake(
        "no_clip", {"index": lambda x: x.j - x.i + x.k}, MISTAKE,
        wrote="j - i + k",
        why=f"Right for lengths up to k+1, then outside the table. {WRAPS}",
        repair="relative_position = np.clip(relative_position, -k, k)",
        seen_in="transformers issue 17026 (11 tokens, 10 positions: IndexError)",
    ),
    Mistake(
        "no_shift", {"index": lambda x: np.clip(x.j - x.i, -x.k, x.k)}, CONVENTION,
        wrote="clip(j - i, -k, k)",
        why=f"Rows are numbered from -k instead of 0: the table is read rotated by k. {WRAPS}",
        repair="table = np.roll(table, k, axis=-2)  # both tables",
    ),
    Mistake(
        "abs_distance", {"index": lambda x: np.minimum(abs(x.j - x.i), x.k) + x.k}, MISTAKE,
        wrote="min(|j - i|, k) + k",
        why="Left and right are not told apart; the first k rows are never read.",
    ),
    Mistake(
        "abs_distance_row0", {"index": lambda x: np.minimum(abs(x.j - x.i), x.k)}, MISTAKE,
        wrote="min(|j - i|, k)",
        why="Left and right are not told apart, and distance 0 reads the row of distance -k.",
    ),
    Mistake(
        "clip_0_2k_unshifted", {"index": lambda x: np.clip(x.j - x.i, 0, 2 * x.k)}, MISTAKE,
        wrote="clip(j - i, 0, 2k)",
        why="Clipped to the rows of the table before the shift: the whole past is row 0.",
    ),
    Mistake(
        "upper_clip_only", {"index": lambda x: np.minimum(x.j - x.i, x.k) + x.k}, MISTAKE,
        wrote="min(j - i, k) + k",
        why=f"Only the right side is clipped; a far key to the left reads a wrapped row. {WRAPS}",
    ),
    Mistake(
        "lower_clip_only", {"index": lambda x: np.maximum(x.j - x.i, -x.k) + x.k}, MISTAKE,
        wrote="max(j - i, -k) + k",
        why="Only the left side is clipped; a far key to the right is outside the table. Under "
            "a causal mask the rows read too far are hidden, if the gather survives them.",
    ),
    Mistake(
        "shift_k_minus_1", {"index": lambda x: np.clip(x.j - x.i, -x.k, x.k) + x.k - 1},
        CONVENTION,
        wrote="clip(j - i, -k, k) + k - 1",
        why=f"The shift is one short, as if rows were counted from 1. {WRAPS}",
        repair="table = np.roll(table, 1, axis=-2)  # both tables",
    ),
    Mistake(
        "shift_k_plus_1", {"index": lambda x: np.clip(x.j - x.i, -x.k, x.k) + x.k + 1}, MISTAKE,
        wrote="clip(j - i, -k, k) + k + 1",
        why="Row 2k+1 does not exist: an IndexError, or with a clamping gather the two farthest "
            "distances to the right share a row.",
    ),
    Mistake(
        "off_by_one_ahead", {"index": lambda x: np.clip(x.j - x.i + 1, -x.k, x.k) + x.k}, MISTAKE,
        wrote="clip(j - i + 1, -k, k) + k",
        why="Keys counted from 1, queries from 0: a token sees itself one to the right. (The same "
            "as a table with distance 0 one row later: left k+1, right k-1.)",
    ),
    Mistake(
        "off_by_one_behind", {"index": lambda x: np.clip(x.j - x.i - 1, -x.k, x.k) + x.k},
        MISTAKE,
        wrote="clip(j - i - 1, -k, k) + k",
        why="Queries counted from 1, keys from 0: a token sees itself one to the left. (The same "
            "as a table with distance 0 one row earlier: left k-1, right k+1.)",
    ),
    Mistake(
        "centre_L_minus_1",
        {"index": lambda x: np.minimum(x.j - x.i + x.key_len - 1, 2 * x.k)}, MISTAKE,
        wrote="min(j - i + length - 1, 2k)",
        why="The table is taken for one of 2*length-1 rows with distance 0 at length-1; the "
            "gather saturates at the last row, so a long sequence has hardly any positions.",
    ),
    Mistake(
        "no_query_offset", {"i": lambda x: np.arange(x.query_len)[:, np.newaxis]}, MISTAKE,
        wrote="i = 0, 1, ..",
        why="New queries after a cache count from 0 again. Whole sequences do not show it.",
        repair="i = np.arange(query_len) + key_len - query_len",
        seen_in="transformers issue 19045; x-transformers PR 103 (a bias of distances)",
    ),
    Mistake(
        "int8_overflow",
        {"index": lambda x: np.clip((x.j - x.i).astype(np.int8), -x.k, x.k) + x.k}, MISTAKE,
        wrote="clip((j - i).astype(int8), -k, k) + k",
        why="Distances beyond +-127 wrap to the other side. Lengths up to 128 do not show it.",
    ),
    Mistake(
        "absolute_key_index", {"index": lambda x: np.minimum(x.j + 0 * x.i, 2 * x.k)}, MISTAKE,
        wrote="min(j, 2k)",
        why="The key's absolute position in place of its distance.",
    ),
    Mistake(
        "absolute_query_index", {"index": lambda x: np.minimum(x.i + 0 * x.j, 2 * x.k)}, MISTAKE,
        wrote="min(i, 2k)",
        why="The query's absolute position: one row for all its keys, so the softmax cancels the "
            "key term and only the value term sees any position.",
    ),
    Mistake(
        "clamp_gather_no_clip", {"index": lambda x: np.clip(x.j - x.i + x.k, 0, 2 * x.k)}, CORRECT,
        wrote="clip(j - i + k, 0, 2k)",
        why="Clipped after the shift instead of before: the same rows. (A gather that clamps by "
            "itself, as in JAX, gives these outputs too but drops gradients of clipped pairs.)",
    ),
)
