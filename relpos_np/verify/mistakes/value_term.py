"""G. The value term: equation (3)."""

import math

import numpy as np

from relpos_np.softmax import mask_scores
from relpos_np.verify.formula import content_output, relative_output
from relpos_np.verify.mistakes.mistake import MISTAKE, RESCALE, Mistake


def for_every_batch(per_query, x):
    """(h, i, d), the same for every batch entry, as (b, h, i, d)."""
    return per_query + np.zeros_like(x.content_output[..., :1])


def content_weights(x):
    """The softmax of the content half alone."""
    return x.softmax(mask_scores(x.content_logits / math.sqrt(x.head_dim), x.mask))


MISTAKES = (
    Mistake(
        "rel_value_missing", {"relative_output": lambda x: np.zeros_like(x.content_output)},
        MISTAKE,
        wrote="z_i = sum_j weights_ij v_j",
        why="The term is missing: as if the value table were zero. The paper found it "
            "dispensable for translation, so it is often left out on purpose.",
    ),
    Mistake(
        "rel_value_unweighted",
        {"relative_output": lambda x: for_every_batch(x.relative_value.sum(axis=-2), x)}, MISTAKE,
        wrote="sum_j aV_ij",
        why="Not weighted by the attention: the same vector whatever is attended.",
    ),
    Mistake(
        "rel_value_mean",
        {"relative_output": lambda x: for_every_batch(x.relative_value.mean(axis=-2), x)}, MISTAKE,
        wrote="mean_j aV_ij",
        why="Not weighted by the attention: the same vector whatever is attended. With zero "
            "queries it looks right.",
    ),
    Mistake(
        "rel_value_content_alpha",
        {"relative_output": lambda x: np.einsum(
            "bhij,hijd->bhid", content_weights(x), x.relative_value)}, MISTAKE,
        wrote="sum_j softmax(q_i . k_j / sqrt(head_dim)) aV_ij",
        why="The value term has weights of its own, without the relative logits.",
    ),
    Mistake(
        "alpha_transposed",
        {"content_output": lambda x: np.einsum("bhji,bhjd->bhid", x.weights, x.value)}, MISTAKE,
        wrote="sum_j weights_ji v_j",
        why="Keys and queries in each other's place; it runs whenever the lengths are equal.",
    ),
    Mistake(
        "values_are_keys",
        {"content_output": lambda x: np.einsum("bhij,bhjd->bhid", x.weights, x.key)}, MISTAKE,
        wrote="sum_j weights_ij k_j",
        why="The keys are averaged in place of the values. Another value head_dim would raise.",
    ),
    Mistake(
        "rel_value_subtracted", {"output": lambda x: x.content_output - x.relative_output},
        RESCALE,
        wrote="sum_j weights_ij v_j - sum_j weights_ij aV_ij",
        why="The sign of the whole value table is turned.",
        repair="relative_value_table = -relative_value_table",
    ),
    Mistake(
        "content_value_missing", {"content_output": lambda x: 0 * content_output(x)}, MISTAKE,
        wrote="z_i = sum_j weights_ij aV_ij",
        why="The values themselves are missing.",
    ),
    Mistake(
        "rel_value_scaled",
        {"relative_output": lambda x: relative_output(x) / math.sqrt(x.head_dim)}, RESCALE,
        wrote="sum_j weights_ij aV_ij / sqrt(head_dim)",
        why="The scale of the logits was applied to the value term as well.",
        repair="relative_value_table = relative_value_table / sqrt(head_dim)",
    ),
    Mistake(
        "alpha_without_rel",
        {"scaled_logits": lambda x: x.content_logits / math.sqrt(x.head_dim)}, MISTAKE,
        wrote="softmax(q_i . k_j / sqrt(head_dim)), and the value term added",
        why="The relative logits were computed and never added: as if the key table were zero.",
        seen_in="keras-hub 2861 and TensorRT-LLM PR 13870 (dropped once a cache exists)",
    ),
)
