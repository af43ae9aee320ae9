"""E. The mask. Without a mask none of these differs from the right formula."""

import numpy as np

from relpos_np.softmax import mask_scores
from relpos_np.verify import formula
from relpos_np.verify.mistakes.mistake import CONVENTION, CORRECT, MISTAKE, Mistake


def under_mask(step, right):
    """`step` where there is a mask, else the right one."""
    return lambda x: right(x) if x.mask is None else step(x)


def in_scores(hidden_scores):
    return {"scores": under_mask(hidden_scores, formula.scores)}


def next_key_too(mask):
    """Each key after an allowed one is allowed too: j <= i + 1 from j <= i."""
    grown = mask.copy()
    grown[..., 1:] |= mask[..., :-1]
    return grown


def last_key_dropped(mask):
    """A key stays only if the next one is allowed too: j < i from j <= i."""
    return np.append(mask[..., :-1] & mask[..., 1:], np.zeros_like(mask[..., :1]), axis=-1)


def masked_before_relative(x):
    return mask_scores(x.content_logits, x.mask) + x.relative_logits


MISTAKES = (
    Mistake(
        "mask_ignored", in_scores(lambda x: x.scaled_logits), MISTAKE,
        wrote="softmax of scores that were never masked",
        why="The mask is not applied, or '-1e-9' was typed for '-1e9'.",
    ),
    Mistake(
        "mask_inverted", in_scores(lambda x: mask_scores(x.scaled_logits, ~x.mask)), CONVENTION,
        wrote="-inf where mask is True",
        why="True means hidden in some libraries (torch's key_padding_mask) and 'may attend' in "
            "others and here.",
        repair="mask = ~mask",
        seen_in="x-transformers PR 10 ('if causal' for 'if not causal')",
    ),
    Mistake(
        "mask_times_zero", in_scores(lambda x: x.scaled_logits * x.mask), MISTAKE,
        wrote="scaled_logits * mask",
        why="A hidden pair has score 0, which is a fair share of the softmax, not none.",
    ),
    Mistake(
        "mask_after_softmax",
        {"weights": under_mask(lambda x: x.softmax(x.scaled_logits) * x.mask, formula.weights)},
        MISTAKE,
        wrote="softmax(scaled_logits) * mask",
        why="Hidden keys still took their share: the rows no longer add up to 1.",
        seen_in="lucidrains/memory-compressed-attention issue 2",
    ),
    Mistake(
        "mask_one_too_many",
        in_scores(lambda x: mask_scores(x.scaled_logits, next_key_too(x.mask))), MISTAKE,
        wrote="j <= i + 1",
        why="One key too many: a causal model sees the token that it is to predict.",
    ),
    Mistake(
        "mask_one_too_few",
        in_scores(lambda x: mask_scores(x.scaled_logits, last_key_dropped(x.mask))), MISTAKE,
        wrote="j < i",
        why="One key too few: a token does not see itself, and the first sees nothing.",
    ),
    Mistake(
        "mask_before_rel_neg_inf",
        {"scaled_logits": lambda x: masked_before_relative(x) / np.sqrt(x.head_dim).astype(
            x.query.dtype)}, CORRECT,
        wrote="where(mask, q_i . k_j, -inf) + q_i . aK_ij",
        why="Minus infinity stays minus infinity whatever is added. (A finite fill would not.)",
    ),
)
