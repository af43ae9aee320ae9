"""Notebook 4: the way back, each exercise on the reference's forward pass."""

import numpy as np

from relpos_np.attention import attention_forward
from relpos_np.exercises.exercise import CAUSAL, CROSS, EQUAL, SHORT, SQUARE, Exercise, names
from relpos_np.verify import backward_formula as formula
from relpos_np.verify.backward_formula import BACKWARD, RIGHT
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake

BASIC = (SQUARE, EQUAL, CROSS, SHORT)


def upstream(*wanted):
    """The gradient of the output, and stages by name."""
    return lambda x: {"grad_output": x.g, **names(*wanted)(x)}


def cache(x):
    """What `attention_forward` keeps for its backward."""
    arguments = {name: getattr(x, name) for name in (*INPUTS, "mask", "query_start")}
    return {"grad_output": x.g, "cache": attention_forward(**arguments)[1]}


def gradients(x):
    return {f"grad_{name}": grad for name, grad in x.returned.items()}


def from_values(x):
    """The share of the weights' gradient that the values send."""
    return np.einsum("bhid,bhjd->bhij", x.g, x.value)


def from_pairs(letters):
    """The share that the vectors of the pairs send, with these letters."""
    return lambda x: np.einsum(letters, x.g, x.relative_value)


EXERCISES = (
    Exercise(
        "4.1", "gradient of the weights", RIGHT["grad_weights"],
        function="grad_weights",
        takes=upstream("value", "relative_value"), gives=names("grad_weights"), axes="bhij",
        steps=(formula.grad_weights,), situations=BASIC,
        own=(
            Mistake(
                "dalpha_content_missing", {"grad_weights": from_pairs("bhid,hijd->bhij")}, MISTAKE,
                wrote="dweights_ij = g_i . aV_ij",
                why="The weights met the value and the table; only the table's share comes back.",
            ),
            Mistake(
                "dalpha_rel_transposed",
                {"grad_weights": lambda x: from_values(x) + from_pairs("bhid,hjid->bhij")(x)},
                MISTAKE,
                wrote="dweights_ij = g_i . (v_j + aV_ji)",
                why="The pair array is read with its axes exchanged.",
            ),
        ),
        hints=(
            "Both halves of equation (3) used the weights, so both send something back.",
            "grad_weights_ij = sum_d grad_output_id (value_jd + relative_value_ijd).",
            "One einsum per half: bhid with bhjd, and bhid with ijd; add them.",
        ),
    ),
    Exercise(
        "4.2", "softmax backward", RIGHT["grad_scores"],
        function="grad_scores",
        takes=names("grad_weights", "weights"), gives=names("grad_scores"), axes="bhij",
        steps=(formula.grad_scores,), situations=(SQUARE, CROSS, CAUSAL),
        hints=(
            "The weights of a row add up to 1: raising one score lowers the other weights.",
            "grad_scores_ij = weights_ij (grad_weights_ij - sum_l weights_il grad_weights_il).",
            "Take the sum first, over axis=-1 with keepdims=True. Each row of the result adds up "
            "to 0.",
        ),
    ),
    Exercise(
        "4.3", "gradient of the queries", "dq_i = sum_j dscores_ij (k_j + aK_ij) / sqrt(head_dim)",
        function="grad_query",
        takes=names("grad_scores", "key", "relative_key"), gives=names("grad_query"), axes="bhid",
        steps=(formula.grad_logits, formula.grad_query), situations=BASIC,
        hints=(
            "Undo the scale first, then both halves of the logits: the query was in both.",
            "grad_logits = grad_scores / sqrt(head_dim), "
            "grad_query_i = sum_j grad_logits_ij (key_j + relative_key_ij).",
            "Two einsums, bhij with bhjd and bhij with ijd. The scale is needed on the way back "
            "as well, once.",
        ),
    ),
    Exercise(
        "4.4", "gradients of keys and values", "dk_j = sum_i dlogits_ij q_i, "
        "dv_j = sum_i weights_ij g_i",
        function="grad_key_and_value",
        takes=lambda x: {"grad_logits": x.grad_logits, "query": x.query, "weights": x.weights,
                         "grad_output": x.g},
        gives=lambda x: {"grad_key": x.grad_key, "grad_value": x.grad_value}, axes="bhjd bhjd",
        steps=(formula.grad_key, formula.grad_value), situations=BASIC,
        hints=(
            "A key served every query, so its gradient is a sum over i. So is a value's.",
            "grad_key_j = sum_i grad_logits_ij query_i, grad_value_j = sum_i weights_ij "
            "grad_output_i.",
            "bhij with bhid gives bhjd, twice. No table here: key and value never met it.",
        ),
    ),
    Exercise(
        "4.5", "from pairs to table rows", RIGHT["grad_rows"],
        function="grad_table",
        takes=lambda x: {"grad_pairs": x.grad_relative_key[0], "index": x.index,
                         "num_rows": x.num_rows},
        gives=lambda x: x.grad_rows[0][0], axes="rd",
        steps=(formula.grad_rows,), situations=(SQUARE, CROSS, SHORT),
        hints=(
            "Many pairs read one row; every one of them sends its gradient to that row.",
            "grad_table[r] = sum of grad_pairs[i, j] over all pairs with index[i, j] = r.",
            "Zeros of (num_rows, head_dim), then np.add.at(grad_table, index, grad_pairs). "
            "grad_table[index] += grad_pairs keeps one pair per row only.",
        ),
    ),
    Exercise(
        "4.6", "gradients of both tables", RIGHT["shared"],
        function="grad_tables",
        takes=lambda x: {"grad_logits": x.grad_logits, "weights": x.weights, "query": x.query,
                         "grad_output": x.g, "index": x.index, "num_rows": x.num_rows},
        gives=lambda x: {"grad_key_table": x.shared[0], "grad_value_table": x.shared[1]},
        axes="rd rd",
        steps=(formula.grad_relative_key, formula.grad_relative_value, formula.grad_rows,
               formula.shared),
        situations=BASIC,
        hints=(
            "Texts and heads all read the same two tables. What does that do to the gradients?",
            "grad_pairs_K[i, j] = sum over b and h of grad_logits_ij query_i, and for the values "
            "of weights_ij grad_output_i; then 4.5 for each.",
            "bhij with bhid gives ijd: leaving out b and h after the arrow sums over them.",
        ),
    ),
    Exercise(
        "4.7", "the whole way back", "dq, dk, dv, daK, daV, in the order of the inputs",
        function="attention_backward",
        takes=cache, gives=gradients, axes="bhid bhjd bhjd rd rd",
        steps=BACKWARD, situations=(CAUSAL, *BASIC),
        hints=(
            "Lesson 6: the forward lines in reverse. cache has every intermediate by its name, "
            "such as cache.weights and cache.index.",
            "grad_weights, grad_scores, grad_logits, then the five gradients, in the order of the "
            "inputs.",
            "Call your functions 4.1, 4.2, 4.3 (which takes grad_scores), 4.4 and 4.6; num_rows is "
            "len(cache.relative_key_table).",
        ),
    ),
)
