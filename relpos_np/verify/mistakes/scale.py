"""D. The scale: which half of the logits is divided, by what, and where."""

import math

from relpos_np.softmax import mask_scores
from relpos_np.verify.mistakes.mistake import MISTAKE, RESCALE, Mistake


def logits(x):
    return x.content_logits + x.relative_logits


def scaled_after_softmax(x):
    return x.softmax(mask_scores(logits(x), x.mask)) / math.sqrt(x.head_dim)


MISTAKES = (
    Mistake(
        "no_scale", {"scaled_logits": logits}, RESCALE,
        wrote="q_i . k_j + q_i . aK_ij",
        why="Logits grow with head_dim and the softmax saturates.",
        repair="query = query * sqrt(head_dim)",
    ),
    Mistake(
        "scale_content_only",
        {"scaled_logits": lambda x: x.content_logits / math.sqrt(x.head_dim) + x.relative_logits},
        RESCALE,
        wrote="q_i . k_j / sqrt(head_dim) + q_i . aK_ij",
        why="The relative half is sqrt(head_dim) times too large.",
        repair="relative_key_table = relative_key_table * sqrt(head_dim)",
        seen_in="CTranslate2 PR 123",
    ),
    Mistake(
        "scale_rel_only",
        {"scaled_logits": lambda x: x.content_logits + x.relative_logits / math.sqrt(x.head_dim)},
        RESCALE,
        wrote="q_i . k_j + q_i . aK_ij / sqrt(head_dim)",
        why="The content half is sqrt(head_dim) times too large.",
        repair="key = key * sqrt(head_dim)",
    ),
    Mistake(
        "scale_d", {"scaled_logits": lambda x: logits(x) / x.head_dim}, RESCALE,
        wrote="(q_i . k_j + q_i . aK_ij) / head_dim",
        why="Divided twice by sqrt(head_dim), for instance in the projection and again here.",
        repair="query = query / sqrt(head_dim)",
    ),
    Mistake(
        "scale_seq_len", {"scaled_logits": lambda x: logits(x) / math.sqrt(x.query_len)}, MISTAKE,
        wrote="(q_i . k_j + q_i . aK_ij) / sqrt(query_len)",
        why="The wrong axis was asked for its size: the softmax depends on the length.",
    ),
    Mistake(
        "multiply_sqrt_d", {"scaled_logits": lambda x: logits(x) * math.sqrt(x.head_dim)}, RESCALE,
        wrote="(q_i . k_j + q_i . aK_ij) * sqrt(head_dim)",
        why="Multiplied where it should be divided.",
        repair="query = query * head_dim",
    ),
    Mistake(
        "scale_after_softmax", {"weights": scaled_after_softmax}, MISTAKE,
        wrote="softmax(q_i . k_j + q_i . aK_ij) / sqrt(head_dim)",
        why="The weights of a row add up to 1/sqrt(head_dim).",
    ),
    Mistake(
        "scale_twice_content",
        {"scaled_logits": lambda x: x.content_logits / x.head_dim
            + x.relative_logits / math.sqrt(x.head_dim)}, RESCALE,
        wrote="q_i . k_j / head_dim + q_i . aK_ij / sqrt(head_dim)",
        why="The content half is divided twice.",
        repair="key = key / sqrt(head_dim)",
    ),
)
