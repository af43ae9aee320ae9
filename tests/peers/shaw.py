"""Every recorded package with Shaw's attention, recomputed with ours: ``PEER(case) -> outputs``.

The returned names are those of the recording. What a package computes in another convention,
our side converts with `relpos_np.conventions`, tables on the way in and gradients on the way out.
"""

import re

import numpy as np
from peers.layers import NUM_HEADS, layer_norm, linear, self_attention

from relpos_np import attention_backward, attention_forward, conventions
from relpos_np.heads import merge_heads, split_heads

# Names of a package's projections to query, key, value and output.
NAMES = {
    "evelinehong": ("fc_q", "fc_k", "fc_v", "fc_o"),
    "opennmt_py": ("linear_query", "linear_keys", "linear_values", "final_linear"),
    "hf_bert_relative_key": ("query", "key", "value"),
    "hf_wav2vec2_bert_relative_key": ("linear_q", "linear_k", "linear_v", "linear_out"),
    "hf_vits": ("q_proj", "k_proj", "v_proj", "out_proj"),
    "lucidrains_conformer": ("to_q", "to_k", "to_v", "to_out"),
    "opennmt_tf": ("query", "key", "value", "output"),
}


def tensor2tensor_relative_v1(case):
    """The paper's own code; it leaves the scale to its caller, who multiplies the query."""
    inputs = case.inputs
    arrays = [inputs[name] for name in ("q", "k", "v", "wk", "wv")]
    if case.name.startswith("q4_k9"):  # four new queries of nine keys
        query, *others = arrays
        step, _ = attention_forward(query[:, :, 3:], *others, query_start=8)
        return {"allow_memory": attention_forward(*arrays, query_start=5)[0], "cache1": step}
    output, cache = attention_forward(*arrays, mask=case.mask)
    grads = attention_backward(inputs["g"], cache)
    return {
        "out": output, "d_q": grads.query, "d_k": grads.key, "d_v": grads.value,
        "d_relative_positions_keys": grads.relative_key_table,
        "d_relative_positions_values": grads.relative_value_table,
    }


def tensor2tensor_music_v2_masked(case):
    inputs = case.inputs
    length = inputs["q"].shape[2]
    tables = [conventions.from_causal_window(inputs[name]) for name in ("wk", "wv")]
    output, cache = attention_forward(
        inputs["q"], inputs["k"], inputs["v"], *tables,
        mask=np.tril(np.ones((length, length), dtype=bool)),
    )
    grads = attention_backward(inputs["g"], cache)
    carry = conventions.grad_to_causal_window
    return {
        "out": output, "d_q": grads.query, "d_k": grads.key, "d_v": grads.value,
        "d_key_relative_embeddings": carry(grads.relative_key_table),
        "d_value_relative_embeddings": carry(grads.relative_value_table),
    }


def fairseq2_shaw(case):
    """Its attention proper, (batch, length, heads, head_dim); ``d_x`` is the query's gradient."""
    inputs = case.inputs
    query, key, value = (inputs[name].swapaxes(1, 2) for name in "qkv")
    sides = sides_of(case, default=(2, 2))
    tables = [
        conventions.from_left_right(inputs[name], *sides) if name in inputs else None
        for name in ("rel_k_embed.weight", "rel_v_embed.weight")
    ]
    if case.name.startswith("cache"):
        mask = np.tril(np.ones((9, 9), dtype=bool))
        output, _ = attention_forward(query, key, value, *tables, mask=mask)
        return dict.fromkeys(("full", "stepwise", "chunks5_4"), output.swapaxes(1, 2))
    output, cache = attention_forward(query, key, value, *tables, mask=case.mask)
    grads = attention_backward(inputs["g"].swapaxes(1, 2), cache)
    names = ("rel_k_embed.weight", "rel_v_embed.weight")
    return {
        "out": output.swapaxes(1, 2), "alpha": cache.weights,
        "d_x": grads.query.swapaxes(1, 2),
        **{
            f"d_{name}": conventions.grad_to_left_right(grad, *sides)
            for name, grad in zip(names, grads[3:], strict=True) if grad is not None
        },
    }


def evelinehong(case):
    inputs = case.inputs
    names = ("relative_position_k.embeddings_table", "relative_position_v.embeddings_table")
    tables = [inputs[name] for name in names]
    if case.name.startswith("q3_k7"):  # three queries of seven keys stand at the first positions
        query, key, value = (
            split_heads(linear(inputs[x], inputs, name), NUM_HEADS)
            for x, name in zip(("xq", "xk", "xk"), NAMES["evelinehong"], strict=False)
        )
        output, _ = attention_forward(query, key, value, *tables, query_start=0)
        return {"out": linear(merge_heads(output), inputs, "fc_o")}
    results = self_attention(
        inputs, inputs["x"], NAMES["evelinehong"], tables, case.mask, inputs["g"]
    )
    grads = results.pop("grads")
    return {**results, f"d_{names[0]}": grads.relative_key_table,
            f"d_{names[1]}": grads.relative_value_table}


def opennmt_py(case):
    inputs = case.inputs
    name = "relative_positions_embeddings.weight"
    tables = conventions.from_one_table(inputs[name])
    if case.name.startswith("cache"):
        mask = np.tril(np.ones((9, 9), dtype=bool))
        full = self_attention(inputs, inputs["x"], NAMES["opennmt_py"], tables, mask)["out"]
        return {"full": full, "stepwise": full}
    results = self_attention(
        inputs, inputs["x"], NAMES["opennmt_py"], tables, case.mask, inputs["g"]
    )
    grads = results.pop("grads")
    return {**results, f"d_{name}": conventions.grad_to_one_table(*grads[3:])}


def opennmt_tf(case):
    """Its kernels are (in, out): transposed here, they are torch's weights."""
    inputs, weights = case.inputs, {}
    if case.name.startswith("fully"):
        return {}
    if case.name.startswith("cache"):
        for name, number in zip(NAMES["opennmt_tf"], range(4), strict=True):
            weights[f"{name}.weight"] = inputs[f"dense_{number}/kernel:0"].T
            weights[f"{name}.bias"] = inputs[f"dense_{number}/bias:0"]
        tables = inputs["relative_position_keys:0"], inputs["relative_position_values:0"]
        mask = np.tril(np.ones((9, 9), dtype=bool))
        full = self_attention(weights, inputs["x"], NAMES["opennmt_tf"], tables, mask)["out"]
        return {"full": full, "stepwise": full}
    for name, letter in zip(NAMES["opennmt_tf"], ("q", "key", "val", "o"), strict=True):
        weights[f"{name}.weight"] = inputs[f"w{letter}"].T
        weights[f"{name}.bias"] = inputs[f"b{letter[0]}"]
    tables = inputs["rel_k"], inputs["rel_v"]
    results = self_attention(
        weights, inputs["x"], NAMES["opennmt_tf"], tables, case.mask, inputs["g"]
    )
    grads = results.pop("grads")
    return {**{name: results[name] for name in ("out", "alpha", "d_x")},
            "d_rel_k": grads.relative_key_table, "d_rel_v": grads.relative_value_table}


def hf_bert_relative_key(case):
    inputs, name = case.inputs, "distance_embedding.weight"
    tables = conventions.from_reversed(inputs[name]), None
    if case.name.startswith("cache"):
        mask = np.tril(np.ones((9, 9), dtype=bool))
        full = self_attention(inputs, inputs["x"], NAMES[case.peer], tables, mask)["out"]
        return {"full": full, "stepwise": full}
    results = self_attention(inputs, inputs["x"], NAMES[case.peer], tables, case.mask, inputs["g"])
    grads = results.pop("grads")
    return {**results, f"d_{name}": conventions.grad_to_reversed(grads.relative_key_table)}


def hf_wav2vec2_bert_relative_key(case):
    inputs, name, sides = case.inputs, "distance_embedding.weight", sides_of(case)
    tables = conventions.from_left_right(inputs[name], *sides), None
    results = self_attention(inputs, inputs["x"], NAMES[case.peer], tables, case.mask, inputs["g"])
    grads = results.pop("grads")
    carried = conventions.grad_to_left_right(grads.relative_key_table, *sides)
    return {**results, f"d_{name}": carried}


def hf_vits(case):
    """Its tables have a leading axis of one, "shared by the heads"."""
    inputs = case.inputs
    tables = [conventions.from_zero_window(inputs[name][0]) for name in ("emb_rel_k", "emb_rel_v")]
    results = self_attention(inputs, inputs["x"], NAMES[case.peer], tables, case.mask, inputs["g"])
    grads = results.pop("grads")
    carry = conventions.grad_to_zero_window
    return {**results, "d_emb_rel_k": carry(grads.relative_key_table)[np.newaxis],
            "d_emb_rel_v": carry(grads.relative_value_table)[np.newaxis]}


def lucidrains_conformer(case):
    """Key and value come from one projection, ``to_kv``."""
    inputs, name = dict(case.inputs), "rel_pos_emb.weight"
    inputs["to_k.weight"], inputs["to_v.weight"] = np.split(inputs["to_kv.weight"], 2)
    tables = conventions.from_reversed(inputs[name]), None
    results = self_attention(inputs, inputs["x"], NAMES[case.peer], tables, case.mask, inputs["g"])
    grads, attended = results.pop("grads"), results.pop("alpha").any(axis=(1, 3))
    halves = results.pop("d_to_k.weight"), results.pop("d_to_v.weight")
    results["d_to_kv.weight"] = np.concatenate(halves)
    results[f"d_{name}"] = conventions.grad_to_reversed(grads.relative_key_table)
    if not attended.all():
        # A fully masked query: ours puts out zeros, theirs the mean of all values. That query is
        # left out, and with it the gradients that it sends through the values.
        results["out"] = np.where(attended[..., np.newaxis], results["out"], case.outputs["out"])
        results = {key: results[key] for key in ("out", "d_to_q.weight", f"d_{name}")}
    return results


def ctranslate2(case):
    """A whole layer, normalised before each block; a decoder adds logits over the vocabulary."""
    inputs = case.inputs
    if case.name.startswith("encoder"):
        valid = valid_length(case)
        short = transformer_layer(inputs, inputs["ids"][:valid])
        padded = case.outputs["padded_batch"].copy()
        padded[0], padded[1, :valid] = transformer_layer(inputs, inputs["ids"]), short
        return {"out": transformer_layer(inputs, inputs["ids"]), "padded_batch": padded}
    steps, generated = case.outputs["step_logits"].copy(), case.outputs["generated"]
    tokens = np.concatenate([inputs["ids"], generated[:-1]])
    logits = transformer_layer(inputs, tokens)[-len(generated):]
    allowed = steps > -1e30  # it forbids one token
    steps[allowed] = logits[allowed]
    return {"full": transformer_layer(inputs, inputs["ids"]), "step_logits": steps}


def valid_length(case):
    """How many tokens of the second, padded sequence are real."""
    return max(len(case.inputs["ids"]) - 2, 1)


def transformer_layer(inputs, ids):
    """Outputs of CTranslate2's layer for one sequence of token numbers."""
    def part(name):
        return inputs[f"{name}_0"], inputs[f"{name}_1"]

    is_decoder = "proj_0" in inputs
    x = inputs["emb"][ids][np.newaxis]
    weights = {}
    for name, weight, bias in zip(
        ("query", "key", "value"), *(np.split(array, 3) for array in part("qkv")), strict=True
    ):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = weight, bias
    weights["output.weight"], weights["output.bias"] = part("o")
    mask = np.tril(np.ones((len(ids), len(ids)), dtype=bool)) if is_decoder else None
    tables = inputs["wk"], inputs["wv"]
    x = x + self_attention(
        weights, layer_norm(x, *part("aln")), NAMES["opennmt_tf"], tables, mask
    )["out"]
    (first, first_bias), (second, second_bias) = part("f0"), part("f1")
    hidden = np.maximum(layer_norm(x, *part("fln")) @ first.T + first_bias, 0)
    x = layer_norm(x + hidden @ second.T + second_bias, *part("ln"))[0]
    return x @ inputs["proj_0"].T + inputs["proj_1"] if is_decoder else x


def sides_of(case, default=None):
    """Left and right from a case's name, such as ``L17_left4_right2_k_causal_f64``."""
    found = re.search(r"left(\d+)_right(\d+)", case.name)
    return tuple(map(int, found.groups())) if found else default


SHAW_PEERS = {
    function.__name__: function
    for function in (
        tensor2tensor_relative_v1, opennmt_tf, ctranslate2, evelinehong, opennmt_py,
        fairseq2_shaw, hf_wav2vec2_bert_relative_key, hf_bert_relative_key, lucidrains_conformer,
        hf_vits, tensor2tensor_music_v2_masked,
    )
}
