"""Mistakes that students make and published code hardly has: notebooks 1 and 2."""

import numpy as np

from relpos_np.verify import formula
from relpos_np.verify.hidden_rows import SOFTMAXES
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake
from relpos_np.verify.mistakes.scale import logits


def slip(name, step, change, wrote, why):
    """A mistake in one step."""
    return Mistake(name, {step: change}, MISTAKE, wrote, why)


def from_lengths(x):
    return (x.key_len - x.query_len + np.arange(x.query_len))[:, np.newaxis]


def first_key_for_all(x):
    return x.key_rows[:, x.index[:, :1]] + np.zeros((1, *x.index.shape, 1))


def first_head_for_all(x):
    return np.broadcast_to(x.key_rows[0][x.index], (x.num_heads, *x.index.shape, x.head_dim))


def key_reshaped(x):
    return x.query @ x.key.reshape(*x.key.shape[:2], x.head_dim, x.key_len)


def exchanged(step):
    return lambda x: step(x).swapaxes(-1, -2)


def shifted(x):
    return np.exp(x.scores - x.scores.max(axis=-1, keepdims=True))


def masked_and_divided_again(x):
    kept = x.softmax(x.scaled_logits) * x.mask
    return kept / kept.sum(axis=-1, keepdims=True)


def divided_by_all(exponentials):
    return exponentials / exponentials.sum()


START_FROM_LENGTHS = slip(
    "start_from_lengths", "i", from_lengths, "queries that start at key_len - query_len",
    "The argument query_start is ignored: queries need not be the last positions.")
NOTHING_TO_ATTEND = slip(
    "hidden_rows_nan", "weights", lambda x: SOFTMAXES["nan"](x, x.scores),
    "a right softmax, but NaN where a query may attend to nothing",
    "There the maximum is -inf, and -inf - -inf is NaN. Subtract 0 instead, and divide by 1.")
EQUAL_WEIGHTS = slip(
    "hidden_rows_uniform", "weights", lambda x: SOFTMAXES["uniform"](x, x.scores),
    "a right softmax, but equal weights where a query may attend to nothing",
    "There all scores are -inf, and the weights must be 0. Is -inf replaced by a number?")
ROWS = "Each row adds up to 1 by itself: sum over axis=-1 with keepdims=True."
POWER = "head_dim**1/2 is (head_dim**1)/2: the power comes first. Write head_dim**0.5."

SLIPS = {
    "1.1": (
        START_FROM_LENGTHS,
        slip("start_added", "i", lambda x: x.i - 2 * x.query_start, "j + query_start - i, i from 0",
             "A query that stands further right sees keys further left: subtract query_start."),
    ),
    "1.2": (
        slip("k_is_2", "index", lambda x: np.clip(x.j - x.i, -2, 2) + x.k, "k = 2 for every k",
             "How far to clip is the argument k; the 2 of the text is an example."),
        slip("k_excluded", "index", lambda x: np.clip(x.j - x.i, -x.k, x.k - 1) + x.k,
             "clip(j - i, -k, k - 1)", "The end k belongs to it: np.clip is no range."),
        slip("k_added", "index", lambda x: np.clip(x.j - x.i, -x.k, x.k) + 2 * x.k,
             "the clipped position, and k added", "Adding k is step 3, exercise 1.3."),
    ),
    "1.4": (
        START_FROM_LENGTHS,
        slip("shift_before_clip", "index", lambda x: np.clip(x.j - x.i + x.k, -x.k, x.k),
             "clip(j - i + k, -k, k)", "k is added too early: first clip, then add k."),
    ),
    "1.5": (
        slip("index_transposed", "relative_key", lambda x: x.key_rows[:, x.index.T],
             "a_ij = table[index_ji]",
             "The index is read with its axes exchanged: each pair gets the vector of the way "
             "back."),
        slip("one_row_for_a_query", "relative_key", first_key_for_all, "a_ij = table[index_i0]",
             "Every key of a query gets the vector of its first key."),
    ),
    "1.6": (
        slip("index_transposed", "relative_key", lambda x: x.key_rows[:, x.index.T],
             "a_hij = tables[h, index_ji]",
             "The index is read with its axes exchanged: each pair gets the vector of the way "
             "back."),
        slip("first_head_for_all", "relative_key", first_head_for_all,
             "a_hij = tables[0, index_ij]", "All heads read the first head's table."),
        slip("head_axis_last", "relative_key",
             lambda x: x.key_rows[:, x.index].transpose(1, 2, 0, 3), "an array (i, j, h, d)",
             "The heads must come first: (h, i, j, d)."),
    ),
    "2.1": (
        slip("logits_transposed", "content_logits", exchanged(formula.content_logits), "k_i . q_j",
             "Rows must be queries and columns keys; here they are exchanged."),
        slip("content_mean", "content_logits", lambda x: formula.content_logits(x) / x.head_dim,
             "mean_d(q_id k_jd)", "A dot product is the sum over head_dim, not the mean."),
        slip("content_scaled", "content_logits",
             lambda x: formula.content_logits(x) / np.sqrt(x.head_dim),
             "q_i . k_j / sqrt(head_dim)", "The scale has its own exercise, 2.3."),
        slip("key_reshaped", "content_logits", key_reshaped,
             "query @ key.reshape(b, h, d, j)",
             "reshape deals the numbers out anew. To exchange two axes: key.swapaxes(-1, -2)."),
    ),
    "2.2": (
        slip("relative_exchanged", "relative_logits", exchanged(formula.relative_logits),
             "q_i . aK_ij in row j, column i",
             "Rows must be queries and columns keys: '->bhij', not '->bhji'."),
    ),
    "2.3": (
        slip("scale_half_d", "scaled_logits", lambda x: logits(x) / (x.head_dim / 2),
             "(q_i . k_j + q_i . aK_ij) / (head_dim / 2)", POWER),
        slip("scale_twice_d", "scaled_logits", lambda x: logits(x) / x.head_dim / 2,
             "(q_i . k_j + q_i . aK_ij) / head_dim / 2", POWER),
    ),
    "2.4": (
        slip("zero_times_infinity", "scores",
             lambda x: x.scaled_logits + np.where(x.mask, np.nan, -np.inf),
             "NaN where mask is True", "0 * inf is NaN: do not multiply, choose with np.where."),
        slip("large_number_for_infinity", "scores",
             lambda x: formula.mask_scores(x.scaled_logits, x.mask).clip(-1e9),
             "-1e9 where mask is False",
             "A query that may attend to nothing gets equal weights for all keys instead of none."),
    ),
    "2.5": (
        NOTHING_TO_ATTEND, EQUAL_WEIGHTS,
        slip("softmax_over_all", "weights", lambda x: divided_by_all(np.exp(x.scores)),
             "exp(scores) / the sum over everything", ROWS),
        slip("shifted_over_all", "weights", lambda x: divided_by_all(shifted(x)),
             "exp(scores - max) / the sum over everything", ROWS),
        slip("not_divided", "weights", shifted, "exp(scores - max), not divided",
             "Divide by the sum of the row, so that the row adds up to 1."),
        slip("softmax_batch_axis", "weights", lambda x: x.softmax(x.scores, axis=0),
             "softmax over the batch", "axis=0 is the batch; the keys are the last axis, -1."),
    ),
    "2.6": (
        NOTHING_TO_ATTEND, EQUAL_WEIGHTS,
        slip("scale_num_heads", "scaled_logits", lambda x: logits(x) / np.sqrt(x.num_heads),
             "(q_i . k_j + q_i . aK_ij) / sqrt(num_heads)",
             "head_dim is the last axis of query: query.shape[-1]."),
        slip("mask_renormalised", "weights", masked_and_divided_again,
             "softmax(scaled_logits) * mask, divided by its sum again",
             "A large hidden score makes all others 0, then 0 / 0 is NaN: mask before the "
             "softmax."),
    ),
}
