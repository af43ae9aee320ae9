"""Notebook 2: the two halves of the logits, scale, mask, softmax."""

from relpos_np.exercises import retold
from relpos_np.exercises.exercise import (
    BIG,
    CAUSAL,
    CROSS,
    EQUAL,
    HIDDEN,
    PADDING,
    SHORT,
    SQUARE,
    Exercise,
    names,
)
from relpos_np.exercises.slips import SLIPS
from relpos_np.verify import formula
from relpos_np.verify.formula import RIGHT

MASKED = (CAUSAL, PADDING, HIDDEN)


EXERCISES = (
    Exercise(
        "2.1", "content logits", RIGHT["content_logits"],
        function="content_logits",
        takes=names("query", "key"), gives=names("content_logits"), axes="bhij",
        steps=(formula.content_logits,), situations=(SQUARE, CROSS, SHORT),
        own=SLIPS["2.1"],
        hints=(
            "The first half of equation (5): every query meets every key, head by head.",
            "In an einsum the letter that is summed does not stand after the arrow. Which is it "
            "here?",
            "content_logits[b, h, i, j] = sum_d query[b, h, i, d] * key[b, h, j, d]: queries have "
            "the letters bhid, keys bhjd.",
        ),
    ),
    Exercise(
        "2.2", "relative logits", RIGHT["relative_logits"],
        function="relative_logits",
        takes=names("query", "relative_key"), gives=names("relative_logits"), axes="bhij",
        steps=(formula.relative_logits,), situations=(SQUARE, CROSS, SHORT),
        mistakes=("K_index_transposed", "query_j_dot_aK", "batch_head_swapped", "rel_key_missing",
                  "scalar_bias", "rel_subtracted", "rel_twice", "a_in_content_dim_mean"),
        shortened=(("e_ij = q_i . k_j / sqrt(head_dim)", "0 everywhere"),
                   ("q_i . k_j - ", "-"), ("q_i . k_j + 2 ", "2 ")),
        retold=(("rel_key_missing", "Every query must meet the vector of the pair."),
                ("rel_subtracted", "The sign is turned."), ("rel_twice", "Once is enough.")),
        own=SLIPS["2.2"],
        hints=(
            "The second half of equation (5): the query meets the vector of the pair.",
            "relative_key is [query, key, d]. A widely read tutorial has the first two letters "
            "exchanged; try unequal lengths on it.",
            "relative_logits[b, h, i, j] = sum_d query[b, h, i, d] * relative_key[i, j, d]: bhid "
            "with ijd.",
        ),
    ),
    Exercise(
        "2.3", "scale", RIGHT["scaled_logits"],
        function="scale",
        takes=names("content_logits", "relative_logits", "head_dim"),
        gives=names("scaled_logits"), axes="bhij",
        steps=(formula.scaled_logits,), situations=(SQUARE, EQUAL, CROSS, SHORT),
        mistakes=("no_scale", "scale_content_only", "scale_rel_only", "scale_d", "scale_seq_len",
                  "multiply_sqrt_d", "scale_twice_content", "alpha_without_rel",
                  "scale_model_dim", "scale_key_len"),
        shortened=retold.CONTENT_ONLY, retold=retold.SCORES, own=SLIPS["2.3"],
        hints=(
            "Equation (5) has one fraction. What stands above its line?",
            "The fraction divides the whole sum: it needs brackets. math.sqrt is the root.",
            "(content_logits + relative_logits) / sqrt(head_dim).",
        ),
    ),
    Exercise(
        "2.4", "mask", RIGHT["scores"],
        function="apply_mask",
        takes=names("scaled_logits", "mask"), gives=names("scores"), axes="bhij",
        steps=(formula.scores,), situations=MASKED,
        mistakes=("mask_ignored", "mask_inverted", "mask_times_zero", "mask_one_too_many",
                  "mask_one_too_few", "always_causal"),
        shortened=(("softmax of scores that were never masked", "scaled_logits, not masked"),),
        retold=retold.SCORES, own=SLIPS["2.4"],
        hints=(
            "mask is True where a query may attend. What must a score be so that its weight is 0?",
            "np.where(condition, if_true, if_false) broadcasts all three. s[~mask] does not "
            "broadcast.",
            "scores = scaled_logits where mask is True, else minus infinity (-np.inf).",
        ),
    ),
    Exercise(
        "2.5", "softmax", RIGHT["weights"],
        function="softmax",
        takes=names("scores"), gives=names("weights"), axes="bhij",
        steps=(formula.weights,), situations=(SQUARE, CROSS, BIG, HIDDEN),
        mistakes=("softmax_query_axis", "softmax_head_axis", "no_max_subtraction", "global_max",
                  "keepdims_missing", "softmax_plus_one", "log_softmax", "no_softmax",
                  "softmax_plus_one_shifted"),
        own=SLIPS["2.5"],
        hints=(
            "Each row of weights belongs to one query and adds up to 1. Two traps: large scores "
            "overflow, and a row of minus infinities must give a row of zeros.",
            "max and sum over axis=-1 with keepdims=True. Where the maximum is -inf subtract 0 "
            "instead, where the sum is 0 divide by 1 instead (np.where).",
            "weights_ij = exp(s_ij - m_i) / sum_l exp(s_il - m_i), m_i the largest score of row i.",
        ),
    ),
    Exercise(
        "2.6", "from inputs to weights", "softmax_j((q_i . k_j + q_i . aK_ij) / sqrt(head_dim))",
        function="attention_weights",
        takes=names("query", "key", "relative_key", "mask"), gives=names("weights"), axes="bhij",
        steps=(formula.content_logits, formula.relative_logits, formula.scaled_logits,
               formula.scores, formula.weights),
        situations=(CAUSAL, PADDING, HIDDEN,
                    CROSS._replace(mask="causal"), BIG._replace(mask="causal")),
        shortened=retold.CONTENT_ONLY, retold=retold.SCORES, own=SLIPS["2.6"],
        hints=(
            "Equation (4) and the softmax: your answers to 2.1 to 2.5 in a row.",
            "Call your five functions; head_dim is query.shape[-1].",
            "weights = softmax(apply_mask(scale(c, r, head_dim), mask)), c and r from 2.1 and 2.2.",
        ),
    ),
)
