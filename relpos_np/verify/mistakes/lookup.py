"""B. Table lookup and layout: the right rows, fetched or contracted the wrong way round."""

import numpy as np

from relpos_np.verify.formula import relative_logits
from relpos_np.verify.mistakes.mistake import CONVENTION, MISTAKE, Mistake


def batch_and_head_swapped(x):
    right = relative_logits(x)
    return right.swapaxes(0, 1).reshape(right.shape)


MISTAKES = (
    Mistake(
        "K_index_transposed",
        {"relative_logits": lambda x: np.einsum("bhid,hjid->bhij", x.query, x.relative_key)},
        CONVENTION,
        wrote="q_i . aK_ji, for instance einsum('bhqd,Lqd->bhqL') on an array [query, key, d]",
        why="The einsum letters take the array's first axis for keys. aK_ji is the row of i - j, "
            "so it runs, and computes attention with the key table reversed; it fails when "
            "query_len and key_len differ. The right form is einsum('bhqd,qLd->bhqL').",
        repair="relative_key_table = relative_key_table[..., ::-1, :]",
        seen_in="a popular tutorial; axial-deeplab issue 17 (contracts the wrong axis)",
    ),
    Mistake(
        "V_index_transposed",
        {"relative_output": lambda x: np.einsum("bhij,hjid->bhid", x.weights, x.relative_value)},
        CONVENTION,
        wrote="sum_j weights_ij aV_ji",
        why="The einsum letters take the array's first axis for keys: the value table is read "
            "reversed; it fails when query_len and key_len differ.",
        repair="relative_value_table = relative_value_table[..., ::-1, :]",
    ),
    Mistake(
        "tables_swapped",
        {"relative_key": lambda x: x.value_rows[:, x.index],
         "relative_value": lambda x: x.key_rows[:, x.index]},
        CONVENTION,
        wrote="aK_ij from the value table, aV_ij from the key table",
        why="Two arguments in each other's place. Another value head_dim would raise.",
        repair="relative_key_table, relative_value_table = relative_value_table, "
               "relative_key_table",
    ),
    Mistake(
        "aV_is_aK", {"relative_value": lambda x: x.key_rows[:, x.index]}, MISTAKE,
        wrote="aV_ij = aK[index_ij]",
        why="The value term reads the key table, and the value table is never used.",
        seen_in="CTranslate2 PR 123",
    ),
    Mistake(
        "aK_flipped_only", {"relative_key": lambda x: x.key_rows[:, ::-1][:, x.index]}, CONVENTION,
        wrote="aK_ij = aK[2k - index_ij]",
        why="The key table is stored for k .. -k, or its index has i - j.",
        repair="relative_key_table = relative_key_table[..., ::-1, :]",
        seen_in="loading transformers' BERT or lucidrains/conformer tables as they are",
    ),
    Mistake(
        "aV_flipped_only", {"relative_value": lambda x: x.value_rows[:, ::-1][:, x.index]},
        CONVENTION,
        wrote="aV_ij = aV[2k - index_ij]",
        why="The value table is stored for k .. -k, or its index has i - j.",
        repair="relative_value_table = relative_value_table[..., ::-1, :]",
    ),
    Mistake(
        "batch_head_swapped", {"relative_logits": batch_and_head_swapped}, MISTAKE,
        wrote="q_i . aK_ij as (num_heads, batch, i, j), reshaped to (batch, num_heads, i, j)",
        why="After folding batch and heads for one large product they come apart in the wrong "
            "order. One batch entry or one head does not show it.",
        seen_in="fairseq2 PR 72 (fails or mixes for batch > 1)",
    ),
)
