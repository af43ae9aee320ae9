"""C. The relative half of the logits."""

import numpy as np

from relpos_np.verify.formula import relative_logits
from relpos_np.verify.mistakes.mistake import MISTAKE, RESCALE, Mistake


def key_dot_relative(x):
    return np.einsum("bhjd,hijd->bhij", x.key, x.relative_key)


MISTAKES = (
    Mistake(
        "rel_key_missing", {"relative_logits": lambda x: np.zeros_like(x.content_logits)}, MISTAKE,
        wrote="e_ij = q_i . k_j / sqrt(head_dim)",
        why="The term is missing: as if the key table were zero.",
        seen_in="Mozilla TTS (the window never reached the layer); keras-hub 2861 and "
                "TensorRT-LLM PR 13870 (dropped once a cache exists)",
    ),
    Mistake(
        "key_dot_aK", {"relative_logits": key_dot_relative}, MISTAKE,
        wrote="k_j . aK_ij",
        why="The table is added to the query instead of the key. A query then cannot choose by "
            "distance: its own content no longer meets the table.",
    ),
    Mistake(
        "query_and_key_dot_aK",
        {"relative_logits": lambda x: relative_logits(x) + key_dot_relative(x)}, MISTAKE,
        wrote="(q_i + k_j) . aK_ij",
        why="Another method: Huang et al. 2020, BERT's 'relative_key_query'.",
    ),
    Mistake(
        "scalar_bias",
        {"relative_logits": lambda x: x.relative_key.sum(axis=-1)
            + np.zeros_like(x.content_logits)}, MISTAKE,
        wrote="sum_d aK_ijd",
        why="A number per distance that no query can change: T5's form. Scaling W^Q must scale "
            "Shaw's term, and does not scale this one.",
        seen_in="an interview-practice site that teaches it as Shaw's",
    ),
    Mistake(
        "rel_subtracted", {"relative_logits": lambda x: -relative_logits(x)}, RESCALE,
        wrote="q_i . k_j - q_i . aK_ij",
        why="The sign of the whole key table is turned.",
        repair="relative_key_table = -relative_key_table",
    ),
    Mistake(
        "rel_twice", {"relative_logits": lambda x: 2 * relative_logits(x)}, RESCALE,
        wrote="q_i . k_j + 2 q_i . aK_ij",
        why="The term is added in two places. With head_dim 4 it looks like scaling the content "
            "half only.",
        repair="relative_key_table = 2 * relative_key_table",
    ),
    Mistake(
        "a_in_content_dim_mean", {"relative_logits": lambda x: relative_logits(x) / x.head_dim},
        RESCALE,
        wrote="mean_d(q_id aK_ijd)",
        why="A mean over head_dim in place of the sum.",
        repair="relative_key_table = relative_key_table / head_dim",
    ),
)
