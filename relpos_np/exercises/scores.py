"""Notebook 2: the two halves of the logits, scale, mask, softmax."""

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
from relpos_np.verify import formula
from relpos_np.verify.formula import RIGHT
from relpos_np.verify.hidden_rows import SOFTMAXES
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake

MASKED = (CAUSAL, PADDING, HIDDEN)

NOTHING_TO_ATTEND = Mistake(
    "hidden_rows_nan", {"weights": lambda x: SOFTMAXES["nan"](x, x.scores)}, MISTAKE,
    wrote="a right softmax, but NaN where a query may attend to nothing",
    why="There the maximum is -inf, and -inf - -inf is NaN. Subtract 0 instead, and divide by 1.",
)

EXERCISES = (
    Exercise(
        "2.1", "content logits", RIGHT["content_logits"],
        takes=names("query", "key"), gives=names("content_logits"), axes="bhij",
        steps=(formula.content_logits,), situations=(SQUARE, CROSS, SHORT),
        own=(
            Mistake(
                "logits_transposed",
                {"content_logits": lambda x: formula.content_logits(x).swapaxes(-1, -2)}, MISTAKE,
                wrote="k_i . q_j",
                why="Rows must be queries and columns keys; here they are exchanged.",
            ),
            Mistake(
                "content_mean", {"content_logits": lambda x: formula.content_logits(x)
                    / x.head_dim}, MISTAKE,
                wrote="mean_d(q_id k_jd)",
                why="A dot product is the sum over head_dim, not the mean.",
            ),
        ),
        hints=(
            "The first half of equation (5): every query meets every key, head by head.",
            "content_logits[b, h, i, j] = sum_d query[b, h, i, d] * key[b, h, j, d].",
            "In the einsum, give queries the letters bhid and keys bhjd; the letter that is summed "
            "does not stand after the arrow.",
        ),
    ),
    Exercise(
        "2.2", "relative logits", RIGHT["relative_logits"],
        takes=names("query", "relative_key"), gives=names("relative_logits"), axes="bhij",
        steps=(formula.relative_logits,), situations=(SQUARE, CROSS, SHORT),
        mistakes=("K_index_transposed", "batch_head_swapped", "rel_key_missing", "scalar_bias",
                  "rel_subtracted", "rel_twice", "a_in_content_dim_mean"),
        hints=(
            "The second half of equation (5): the query meets the vector of the pair.",
            "relative_logits[b, h, i, j] = sum_d query[b, h, i, d] * relative_key[i, j, d].",
            "relative_key is [query, key, d]: its letters are ijd. A widely read tutorial has the "
            "first two exchanged; try unequal lengths on it.",
        ),
    ),
    Exercise(
        "2.3", "scale", RIGHT["scaled_logits"],
        takes=names("content_logits", "relative_logits", "head_dim"),
        gives=names("scaled_logits"), axes="bhij",
        steps=(formula.scaled_logits,), situations=(SQUARE, EQUAL, CROSS, SHORT),
        mistakes=("no_scale", "scale_content_only", "scale_rel_only", "scale_d", "scale_seq_len",
                  "multiply_sqrt_d", "scale_twice_content", "alpha_without_rel",
                  "scale_model_dim", "scale_key_len"),
        hints=(
            "Equation (5) has one fraction. What stands above its line?",
            "(content_logits + relative_logits) / sqrt(head_dim).",
            "Brackets around the sum; math.sqrt(head_dim) keeps float32 what it is.",
        ),
    ),
    Exercise(
        "2.4", "mask", RIGHT["scores"],
        takes=names("scaled_logits", "mask"), gives=names("scores"), axes="bhij",
        steps=(formula.scores,), situations=MASKED,
        mistakes=("mask_ignored", "mask_inverted", "mask_times_zero", "mask_one_too_many",
                  "mask_one_too_few", "always_causal"),
        own=(
            Mistake(
                "large_number_for_infinity",
                {"scores": lambda x: formula.mask_scores(x.scaled_logits, x.mask).clip(-1e9)},
                MISTAKE,
                wrote="-1e9 where mask is False",
                why="A query that may attend to nothing gets equal weights for all keys instead of "
                    "none.",
            ),
        ),
        hints=(
            "mask is True where a query may attend. What must a score be so that its weight is 0?",
            "scores = scaled_logits where mask is True, else minus infinity.",
            "np.where(condition, if_true, if_false) broadcasts all three.",
        ),
    ),
    Exercise(
        "2.5", "softmax", RIGHT["weights"],
        takes=names("scores"), gives=names("weights"), axes="bhij",
        steps=(formula.weights,), situations=(SQUARE, CROSS, BIG, HIDDEN),
        mistakes=("softmax_query_axis", "softmax_head_axis", "no_max_subtraction", "global_max",
                  "keepdims_missing", "softmax_plus_one", "log_softmax", "no_softmax",
                  "softmax_plus_one_shifted"),
        own=(NOTHING_TO_ATTEND,),
        hints=(
            "Each row of weights belongs to one query and adds up to 1. Two traps: large scores "
            "overflow, and a row of minus infinities must give a row of zeros.",
            "weights_ij = exp(s_ij - m_i) / sum_l exp(s_il - m_i), m_i the largest score of row i.",
            "max and sum over axis=-1 with keepdims=True. Where the maximum is -inf subtract 0 "
            "instead, where the sum is 0 divide by 1 instead (np.where).",
        ),
    ),
    Exercise(
        "2.6", "from inputs to weights", "softmax_j((q_i . k_j + q_i . aK_ij) / sqrt(head_dim))",
        takes=names("query", "key", "relative_key", "mask"), gives=names("weights"), axes="bhij",
        steps=(formula.content_logits, formula.relative_logits, formula.scaled_logits,
               formula.scores, formula.weights),
        situations=(CAUSAL, PADDING, HIDDEN,
                    CROSS._replace(mask="causal"), BIG._replace(mask="causal")),
        own=(NOTHING_TO_ATTEND,),
        hints=(
            "Equation (4) and the softmax: your answers to 2.1 to 2.5 in a row.",
            "weights = softmax(mask(scale(content_logits + relative_logits))).",
            "Call your five functions; head_dim is query.shape[-1].",
        ),
    ),
)
