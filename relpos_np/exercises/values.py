"""Notebook 3: the value term, from the double loop to einsum, heads."""

from relpos_np.exercises import retold
from relpos_np.exercises.exercise import (
    BIG,
    CAUSAL,
    CROSS,
    EQUAL,
    LONG,
    OFFSET,
    SHORT,
    SQUARE,
    Exercise,
    names,
    start_layer,
)
from relpos_np.verify import formula, layer_formula
from relpos_np.verify.formula import FORWARD, INPUTS, RIGHT
from relpos_np.verify.mistakes.mistake import MISTAKE, Mistake
from relpos_np.verify.specs import Spec

LAYERS = (
    Spec("layer", "as many columns as rows in every matrix", query_len=5, key_len=5, head_dim=4,
         value_dim=4, model_dim=12, mask="causal"),
    Spec("wide layer", "matrices that are not square", query_len=5, key_len=5, head_dim=4,
         value_dim=4, model_dim=9, mask="causal"),
)


def one_head(x):
    """The five inputs of the first head of the first text."""
    return {name: getattr(x, name)[0, 0] if name in INPUTS[:3] else getattr(x, name)
            for name in INPUTS}


EXERCISES = (
    Exercise(
        "3.1", "content output", RIGHT["content_output"],
        function="content_output",
        takes=names("weights", "value"), gives=names("content_output"), axes="bhid",
        steps=(formula.content_output,), situations=(SQUARE, EQUAL, CROSS, SHORT),
        mistakes=("alpha_transposed", "content_value_missing"),
        own=(
            Mistake(
                "values_not_weighted",
                {"content_output": lambda x: 0 * formula.content_output(x)
                    + x.value.mean(axis=-2, keepdims=True)}, MISTAKE,
                wrote="mean_j v_j",
                why="Every query gets the same mean: the weights are not used.",
            ),
        ),
        hints=(
            "The first half of equation (3): each query mixes the values by its weights.",
            "content_output[b, h, i, d] = sum_j weights[b, h, i, j] * value[b, h, j, d].",
            "Values carry the letters bhjd; the letter j is summed.",
        ),
    ),
    Exercise(
        "3.2", "relative output", RIGHT["relative_output"],
        function="relative_output",
        takes=names("weights", "relative_value"), gives=names("relative_output"), axes="bhid",
        steps=(formula.relative_output,), situations=(SQUARE, EQUAL, CROSS, SHORT),
        mistakes=("V_index_transposed", "rel_value_missing", "rel_value_unweighted",
                  "rel_value_mean", "rel_value_scaled_value_dim"),
        hints=(
            "The second half of equation (3): the same weights mix the vectors of the pairs.",
            "relative_output[b, h, i, d] = sum_j weights[b, h, i, j] * relative_value[i, j, d].",
            "relative_value is [query, key, d]; i stays, j is summed.",
        ),
    ),
    Exercise(
        "3.3", "the double loop, one head", RIGHT["output"],
        function="double_loop",
        takes=one_head, gives=lambda x: x.output[0, 0], axes="id",
        steps=FORWARD, situations=(SQUARE, EQUAL, SHORT),
        shortened=retold.CONTENT_ONLY, retold=(*retold.ONE_ROW, *retold.SCORES),
        hints=(
            "Lesson 3. Outer loop over i, inner over j: first all scores of row i, then its "
            "softmax, then the sum over j.",
            "e_ij = q_i . (k_j + aK[r]) / sqrt(d) and z_i = sum_j alpha_ij (v_j + aV[r]), with "
            "r = clip(j - i, -k, k) + k and k = len(table) // 2.",
            "Collect e_i in a list, alpha_i = exp(e_i - max) / sum; then start z_i at zeros and "
            "add alpha_i[j] * (value[j] + relative_value_table[r]) for each j.",
        ),
    ),
    Exercise(
        "3.4", "all of it in einsums", RIGHT["output"],
        function="attention",
        takes=names(*INPUTS, "mask", "query_start"), gives=names("output"), axes="bhid",
        steps=FORWARD,
        situations=(CAUSAL, EQUAL, SQUARE._replace(mask="padding"), CROSS,
                    OFFSET, SHORT, BIG, LONG),
        shortened=retold.CONTENT_ONLY, retold=(*retold.ONE_ROW, *retold.SCORES),
        hints=(
            "Lesson 4, and notebooks 1 to 3: index, lookup, two logits, scale, mask, softmax, two "
            "outputs. mask may be None.",
            "output = weights value + weights aV, weights = softmax((q k + q aK) / sqrt(d)).",
            "Ten lines: call what you wrote in 1.4, 1.5, 2.1 to 2.5, 3.1 and 3.2. Two of the five "
            "terms are easily forgotten: the relative ones.",
        ),
    ),
    Exercise(
        "3.5", "split into heads", layer_formula.RIGHT["heads"],
        function="split_heads",
        takes=lambda x: {"projected": x.projected[0], "num_heads": x.num_heads},
        gives=lambda x: x.heads[0], axes="bhid", start=start_layer,
        steps=(layer_formula.heads,), situations=LAYERS,
        mistakes=("split_without_transpose", "heads_interleaved_split"),
        hints=(
            "Lesson 5. Head 0 owns the first head_dim columns, head 1 the next, and so on.",
            "(b, length, h * d) becomes (b, length, h, d), then (b, h, length, d).",
            "reshape first, transpose(0, 2, 1, 3) after: reshaping straight to the final shape "
            "deals positions out to heads.",
        ),
    ),
    Exercise(
        "3.6", "merge the heads", layer_formula.RIGHT["merged"],
        function="merge_heads",
        takes=lambda x: {"heads": x.attended}, gives=names("merged"), axes="bid",
        start=start_layer, steps=(layer_formula.merged,), situations=LAYERS,
        mistakes=("merge_without_transpose",),
        own=(
            Mistake(
                "merge_interleaved",
                {"merged": lambda x: x.attended.transpose(0, 2, 3, 1).reshape(x.merged.shape)},
                MISTAKE,
                wrote="transpose(0, 2, 3, 1).reshape(b, length, h * d)",
                why="The heads' columns are dealt out in turn; each head must keep a block.",
            ),
        ),
        hints=(
            "The inverse of 3.5: put the heads' outputs side by side.",
            "(b, h, length, d) becomes (b, length, h, d), then (b, length, h * d).",
            "Undo the two lines of 3.5 in reverse order.",
        ),
    ),
    Exercise(
        "3.7", "the layer", "heads from x W, attention, merged heads W^O",
        function="layer",
        takes=names(*layer_formula.LAYER_INPUTS, "num_heads", "mask"),
        gives=lambda x: {"output": x.layer_output},
        axes="bio", start=start_layer, steps=layer_formula.LAYER, situations=LAYERS,
        hints=(
            "Lesson 5: project, split, attend, merge, project.",
            "query = split(x W^Q), key = split(x W^K), value = split(x W^V); output = "
            "merge(attention) W^O.",
            "3.5 three times, 3.4 once (query_start is 0), 3.6 once, and one more matrix product.",
        ),
    ),
)
