"""I. The way back: gradients of the right forward pass, one step of it wrong."""

import numpy as np

from relpos_np.verify import backward_formula as right
from relpos_np.verify.backward_formula import scatter
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake


def both_tables(pairs_to_rows):
    """The step `grad_rows` with another way to send one table's pairs to its rows."""
    return {"grad_rows": lambda x: tuple(
        pairs_to_rows(x, pairs) for pairs in (x.grad_relative_key, x.grad_relative_value))}


def last_wins(x, pairs):
    rows = np.zeros((x.num_heads, x.num_rows, pairs.shape[-1]), dtype=pairs.dtype)
    rows[:, x.index] += pairs
    return rows


def mean_of_row(x, pairs):
    count = np.bincount(x.index.ravel(), minlength=x.num_rows)
    return scatter(x, pairs, x.index) / np.maximum(count, 1).astype(pairs.dtype)[:, np.newaxis]


def within_window(x, pairs):
    inside = abs(x.j - x.i) <= x.k
    return scatter(x, pairs * inside[..., np.newaxis], x.index)


def left_of_window_too(x, pairs):
    return scatter(x, pairs * (x.j - x.i <= x.k)[..., np.newaxis], x.index)


def over_heads(combine):
    """The step `shared` with another way to combine the heads' gradients of one table."""
    return {"shared": lambda x: tuple(
        rows if table is None or table.ndim == 3 else combine(rows)
        for rows, table in zip(
            x.grad_rows, (x.relative_key_table, x.relative_value_table), strict=True))}


def key_and_query_swapped(x):
    grads = right.returned(x)
    return {**grads, "query": grads["key"], "key": grads["query"]}


def tables_swapped(x):
    grads = right.returned(x)
    key_table, value_table = "relative_key_table", "relative_value_table"
    return {**grads, key_table: grads[value_table], value_table: grads[key_table]}


MISTAKES = (
    Mistake(
        "softmax_no_correction", {"grad_scores": lambda x: x.weights * x.grad_weights}, MISTAKE,
        wrote="weights * dweights",
        why="The softmax's weights share a sum: raising one score lowers the other weights.",
    ),
    Mistake(
        "softmax_correction_wrong_axis",
        {"grad_scores": lambda x: x.weights * (
            x.grad_weights - (x.weights * x.grad_weights).sum(axis=-2, keepdims=True))}, MISTAKE,
        wrote="weights_ij (dweights_ij - sum_i weights_ij dweights_ij)",
        why="The sum runs over queries instead of keys; it runs whenever lengths are equal.",
    ),
    Mistake(
        "scale_missing_backward", {"grad_logits": lambda x: x.grad_scores}, MISTAKE,
        wrote="dlogits = dscores",
        why="The factor 1/sqrt(head_dim) of the forward pass is left out on the way back.",
    ),
    Mistake(
        "scale_twice_backward", {"grad_logits": lambda x: x.grad_scores / x.head_dim}, MISTAKE,
        wrote="dlogits = dscores / head_dim",
        why="The scale is applied twice, for instance here and again in dq and dk.",
    ),
    Mistake(
        "dq_rel_missing",
        {"grad_query": lambda x: np.einsum("bhij,bhjd->bhid", x.grad_logits, x.key)}, MISTAKE,
        wrote="dq_i = sum_j dlogits_ij k_j",
        why="The query met the key and the table; only the key's share comes back.",
    ),
    Mistake(
        "dq_rel_transposed",
        {"grad_query": lambda x: np.einsum("bhij,bhjd->bhid", x.grad_logits, x.key)
            + np.einsum("bhij,hjid->bhid", x.grad_logits, x.relative_key)}, MISTAKE,
        wrote="dq_i = sum_j dlogits_ij (k_j + aK_ji)",
        why="The pair array is read with its axes exchanged.",
    ),
    Mistake(
        "scatter_last_wins", both_tables(last_wins), MISTAKE,
        wrote="daK[index] += daK_ij",
        why="NumPy reads all rows, adds, and writes them back: of the pairs that share a row "
            "only the last one counts. np.add.at adds pair by pair.",
    ),
    Mistake(
        "scatter_mean", both_tables(mean_of_row), MISTAKE,
        wrote="daK[r] = mean of daK_ij over the pairs of row r",
        why="Rows read often (the clipped ends) learn as if they were read once.",
    ),
    Mistake(
        "table_grad_last_head", over_heads(lambda rows: rows[-1]), MISTAKE,
        wrote="daK = the last head's gradient",
        why="A loop over heads assigns where it should add.",
    ),
    Mistake(
        "dalpha_rel_missing",
        {"grad_weights": lambda x: np.einsum("bhid,bhjd->bhij", x.g, x.value)}, MISTAKE,
        wrote="dweights_ij = g_i . v_j",
        why="The weights met the value and the table; only the value's share comes back.",
    ),
    Mistake(
        "scatter_flipped",
        both_tables(lambda x, pairs: scatter(x, pairs, np.clip(x.i - x.j, -x.k, x.k) + x.k)),
        MISTAKE,
        wrote="daK[clip(i - j, -k, k) + k] += daK_ij",
        why="The forward pass reads j - i, the way back writes i - j.",
    ),
    Mistake(
        "clipped_pairs_dropped", both_tables(within_window), MISTAKE,
        wrote="pairs with |j - i| > k give the tables no gradient",
        why="The end rows serve all farther pairs and must hear from them. A gather that clamps "
            "out-of-range rows (JAX) gives right outputs and drops these gradients.",
    ),
    Mistake(
        "dk_not_transposed",
        {"grad_key": lambda x: np.einsum("bhij,bhjd->bhid", x.grad_logits, x.query)}, MISTAKE,
        wrote="dk = dlogits @ q",
        why="The transpose is missing: dk_j is a sum over queries.",
    ),
    Mistake(
        "dv_not_transposed",
        {"grad_value": lambda x: np.einsum("bhij,bhjd->bhid", x.weights, x.g)}, MISTAKE,
        wrote="dv = weights @ g",
        why="The transpose is missing: dv_j is a sum over queries.",
    ),
    Mistake(
        "softmax_correction_not_weighted",
        {"grad_scores": lambda x: x.weights * x.grad_weights
            - (x.weights * x.grad_weights).sum(axis=-1, keepdims=True)}, MISTAKE,
        wrote="weights_ij dweights_ij - sum_l weights_il dweights_il",
        why="The sum must be weighted by weights_ij as well: a bracket in the wrong place.",
    ),
    Mistake(
        "dk_gets_rel",
        {"grad_key": lambda x: right.grad_key(x)
            + np.einsum("bhij,hijd->bhjd", x.grad_logits, x.relative_key)}, MISTAKE,
        wrote="dk_j = sum_i dlogits_ij (q_i + aK_ij)",
        why="The key never met the table; only the query did.",
    ),
    Mistake(
        "daV_uses_dS",
        {"grad_relative_value": lambda x: np.einsum("bhij,bhid->hijd", x.grad_logits, x.g)},
        MISTAKE,
        wrote="daV_ij = dlogits_ij g_i",
        why="The line of the key table, copied: the value table was weighted by the weights.",
    ),
    Mistake(
        "sign_of_dS", {"grad_scores": lambda x: -right.grad_scores(x)}, MISTAKE,
        wrote="weights_ij (sum_l weights_il dweights_il - dweights_ij)",
        why="The bracket is turned round: everything before the softmax learns uphill.",
    ),
    Mistake(
        "first_batch_only",
        {"grad_relative_key": lambda x: np.einsum("hij,hid->hijd", x.grad_logits[0], x.query[0]),
         "grad_relative_value": lambda x: np.einsum("hij,hid->hijd", x.weights[0], x.g[0])},
        MISTAKE,
        wrote="daK_ij from batch entry 0",
        why="The tables serve the whole batch and must sum over it.",
    ),
    Mistake(
        "table_grad_head_mean", over_heads(lambda rows: rows.mean(axis=0)), MISTAKE,
        wrote="daK = mean over the heads",
        why="A shared table is read by every head: its gradient is the sum.",
    ),
    Mistake(
        "straight_through_softmax", {"grad_scores": lambda x: x.grad_weights}, MISTAKE,
        wrote="dscores = dweights",
        why="The softmax is passed over on the way back.",
    ),
    Mistake(
        "dq_dk_swapped", {"returned": key_and_query_swapped}, MISTAKE,
        wrote="dk, dq, dv, daK, daV",
        why="Two results in each other's place. The shapes are equal whenever the lengths are.",
    ),
)

ALSO = (
    Mistake(
        "daK_daV_swapped", {"returned": tables_swapped}, MISTAKE,
        wrote="dq, dk, dv, daV, daK",
        why="The tables' gradients in each other's place. The shapes are equal whenever value "
            "head_dim is head_dim.",
    ),
    Mistake(
        "right_clipped_pairs_dropped", both_tables(left_of_window_too), MISTAKE,
        wrote="pairs with j - i > k give the tables no gradient",
        why="The upper clip is forgotten, and a gather that clamps by itself hides it: outputs "
            "are right, but the pairs it clamped send no gradient to the last row.",
        repair="relative_position = clip(relative_position, -k, k)",
        seen_in="JAX indexing, table[index] with an index beyond the table",
    ),
)
