"""H. Heads and projections: the layer around the attention."""


from relpos_np.verify.layer_formula import merged
from relpos_np.verify.mistakes.mistake import CONVENTION, MISTAKE, Mistake

TORCH_LAYOUT = "torch.nn.Linear keeps (out, in). A square matrix runs either way round."


def project(query_weight, key_weight, value_weight):
    """The step `projected` with other matrices, given by their names."""
    names = (query_weight, key_weight, value_weight)
    return {"projected": lambda layer: tuple(layer.x @ getattr(layer, name) for name in names)}


def transposed_projections(layer):
    weights = (layer.query_weight, layer.key_weight, layer.value_weight)
    return tuple(layer.x @ weight.T for weight in weights)


def transposed_output(layer):
    return layer.merged @ layer.output_weight.T


def split_without_transpose(layer):
    batch, length = layer.x.shape[:2]
    return tuple(a.reshape(batch, layer.num_heads, length, -1) for a in layer.projected)


def merge_without_transpose(layer):
    return layer.attended.reshape(merged(layer).shape)


def interleaved_heads(layer):
    """Head h owns columns h, h + num_heads, ..."""
    return tuple(
        array.reshape(*array.shape[:2], -1, layer.num_heads).transpose(0, 3, 1, 2)
        for array in layer.projected
    )


def interleaved_merge(layer):
    return layer.attended.transpose(0, 2, 3, 1).reshape(merged(layer).shape)


MISTAKES = (
    Mistake(
        "split_without_transpose", {"heads": split_without_transpose}, MISTAKE,
        wrote="reshape(b, h, length, d)",
        why="Reshaping straight to the final shape deals positions out to heads.",
    ),
    Mistake(
        "merge_without_transpose", {"merged": merge_without_transpose}, MISTAKE,
        wrote="reshape(b, length, h * d)",
        why="The heads' outputs are laid one after another along the positions.",
    ),
    Mistake(
        "weights_transposed",
        {"projected": transposed_projections, "layer_output": transposed_output}, CONVENTION,
        wrote="x W^T for all four matrices",
        why=TORCH_LAYOUT,
        repair="query_weight = query_weight.T  # and the other three",
    ),
    Mistake(
        "output_projection_missing", {"layer_output": lambda layer: layer.merged}, MISTAKE,
        wrote="output = the merged heads",
        why="W^O is not applied: as if it were the identity.",
    ),
    Mistake(
        "q_k_swapped", project("key_weight", "query_weight", "value_weight"), CONVENTION,
        wrote="query = x W^K, key = x W^Q",
        why="Two matrices in each other's place. Without tables it only transposes the logits.",
        repair="query_weight, key_weight = key_weight, query_weight",
    ),
    Mistake(
        "k_v_swapped", project("query_weight", "value_weight", "key_weight"), CONVENTION,
        wrote="key = x W^V, value = x W^K",
        why="Two matrices in each other's place.",
        repair="key_weight, value_weight = value_weight, key_weight",
    ),
)

ALSO = (
    Mistake(
        "qkv_weights_transposed", {"projected": transposed_projections}, CONVENTION,
        wrote="x W^T for query, key and value, but merged W^O",
        why=TORCH_LAYOUT,
        repair="query_weight = query_weight.T  # and key_weight, value_weight",
    ),
    Mistake(
        "output_weight_transposed", {"layer_output": transposed_output}, CONVENTION,
        wrote="merged W^O^T",
        why=TORCH_LAYOUT,
        repair="output_weight = output_weight.T",
    ),
    Mistake(
        "heads_interleaved", {"heads": interleaved_heads, "merged": interleaved_merge}, CONVENTION,
        wrote="reshape(b, length, d, h).transpose(0, 3, 1, 2), and merged in the same order",
        why="Head h owns every num_heads-th column instead of a block of columns.",
        repair="query_weight = query_weight.reshape(m, d, h).swapaxes(1, 2).reshape(m, h * d)  # "
               "and key_weight, value_weight, output_weight.T",
    ),
    Mistake(
        "heads_interleaved_split", {"heads": interleaved_heads}, CONVENTION,
        wrote="reshape(b, length, d, h).transpose(0, 3, 1, 2), but merged by blocks",
        why="Head h owns every num_heads-th column instead of a block of columns.",
        repair="query_weight = query_weight.reshape(m, d, h).swapaxes(1, 2).reshape(m, h * d)  # "
               "and key_weight, value_weight",
    ),
)
