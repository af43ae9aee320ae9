"""K. Other layouts of tables and positions, told by what they compute from a table of 2k+1 rows.

See `relpos_np.conventions` for who uses which.
"""

import numpy as np

from relpos_np.verify import formula
from relpos_np.verify.mistakes.mistake import CONVENTION, Mistake

REPEATS = "The table is not symmetric about distance 0; the short side clips earlier."


def inside(x):
    return (abs(x.j - x.i) <= x.k)[..., np.newaxis]


def left_right(right):
    """The step `index` for rows ``-left .. right``, `right` a function of the number of rows."""

    def index(x):
        nearest = right(x.num_rows)
        left = x.num_rows - 1 - nearest
        return np.clip(x.j - x.i, -left, nearest) + left

    return {"index": index}


def left_right_of(num_rows):
    """All conventions of a table of `num_rows` rows, one per place of distance 0.

    >>> [entry.name for entry in left_right_of(3)]
    ['left_0_right_2', 'left_2_right_0']
    """
    splits = [(num_rows - 1 - right, right) for right in reversed(range(num_rows))]
    return tuple(
        Mistake(
            f"left_{left}_right_{right}", left_right(lambda _, right=right: right), CONVENTION,
            wrote=f"clip(j - i, -{left}, {right}) + {left}", why=REPEATS,
            repair=f"table = from_left_right(table, left={left}, right={right})  # both tables",
        )
        for left, right in splits
        if left != right
    )


def fixed_side(side, width):
    """One side clipped at `width` whatever the table, the rest of the rows for the other side."""
    other = f"rows - 1 - {width}"
    left, right = (other, width) if side == "right" else (width, other)
    return Mistake(
        f"{side}_side_{width}",
        left_right(lambda num_rows: min(width, num_rows - 1) if side == "right"
                   else max(num_rows - 1 - width, 0)), CONVENTION,
        wrote=f"clip(j - i, -({left}), {right}) + {left}", why=REPEATS,
        repair=f"table = from_left_right(table, left={left}, right={right})  # both tables".replace(
            "rows", "table.shape[-2]"),
        seen_in="fairseq2 and wav2vec2-bert clip left and right at different distances; a causal "
                "decoder's table may have rows for the past only (right 0)",
    )


FIXED_SIDES = (
    *(fixed_side("right", width) for width in range(4)),
    *(fixed_side("left", width) for width in range(1, 4)),  # left 0 is clip_0_2k_unshifted
)

MISTAKES = (
    Mistake(
        "zero_window",
        {"relative_key": lambda x: formula.relative_key(x) * inside(x),
         "relative_value": lambda x: formula.relative_value(x) * inside(x)}, CONVENTION,
        wrote="aK_ij = aK[j - i + k] within the window |j - i| <= k, zero outside it",
        why="Beyond the window there is no relative term, where the paper repeats the end row.",
        repair="table = from_zero_window(table)  # both tables; k = window + 1",
        seen_in="the VITS family (VITS, Piper, Coqui)",
    ),
    *FIXED_SIDES,
    Mistake(
        "queries_at_the_last_rows",
        {"i": lambda x: (x.key_len - x.query_len + np.arange(x.query_len))[:, np.newaxis]},
        CONVENTION,
        wrote="i = key_len - query_len + 0, 1, ..  whatever query_start says",
        why="The queries are taken for the newest tokens, which is right for decoding with a "
            "cache and for nothing else.",
        repair="query_start = key_len - query_len",
        seen_in="tensor2tensor allow_memory, CTranslate2, fairseq2",
    ),
)
