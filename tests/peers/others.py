"""Every recorded package with another encoding, recomputed with ours: ``PEER(case) -> outputs``."""

import re

import numpy as np
from peers.layers import NUM_HEADS, layer_norm

from relpos_np import encodings
from relpos_np.encodings.attend import attend_forward
from relpos_np.encodings.relative_shift import relative_shift, relative_shift_two_directional
from relpos_np.heads import merge_heads, split_heads


def hf_transfo_xl(case):
    """A layer, (length, batch, model_dim), with memory in front of the keys."""
    inputs = case.inputs
    x = inputs["w"].swapaxes(0, 1)
    remembered = inputs.get("mem", inputs["w"][:0]).swapaxes(0, 1)
    everything = np.concatenate([remembered, x], axis=1)
    query, key, value = (
        split_heads(part, NUM_HEADS)
        for part in np.split(everything @ inputs["qkv_net.weight"].T, 3, axis=-1)
    )
    start = remembered.shape[1]
    attended, _ = encodings.transformer_xl_forward(
        query[:, :, start:], key, value,
        inputs["r_net.weight"].reshape(NUM_HEADS, -1, x.shape[2]).swapaxes(1, 2),
        inputs["r_w_bias"], inputs["r_r_bias"], position_encoding=inputs["r"], query_start=start,
    )
    out = x + merge_heads(attended) @ inputs["o_net.weight"].T
    out = layer_norm(out, inputs["layer_norm.weight"], inputs["layer_norm.bias"])
    return {"out": out.swapaxes(0, 1)}


def hf_xlnet(case):
    """A layer, (length, batch, model_dim), its sinusoids of the distances made by us."""
    inputs = case.inputs
    x = inputs["h"].swapaxes(0, 1)
    query, key, value = (np.einsum("blm,mhd->bhld", x, inputs[name]) for name in "qkv")
    attended, cache = encodings.transformer_xl_forward(
        query, key, value, inputs["r"].swapaxes(0, 1), inputs["r_w_bias"], inputs["r_r_bias"],
        two_directional=True,
    )
    np.testing.assert_allclose(cache.position_encoding, inputs["pos"], rtol=0, atol=1e-6)
    out = x + np.einsum("bhld,mhd->blm", attended, inputs["o"])
    out = layer_norm(out, inputs["layer_norm.weight"], inputs["layer_norm.bias"], epsilon=1e-12)
    return {"out": out.swapaxes(0, 1)}


def labml_xl(case):
    """Scores with a trained vector and number per distance, farthest left first: j - i rising.

    The recorded slice has a row more at the left than the nearest queries use, which is just
    what the two-directional shift asks for.
    """
    inputs = case.inputs
    query, key = (inputs[name].transpose(1, 2, 0, 3) for name in "qk")
    bias = inputs["query_pos_bias"][:, np.newaxis, :]
    by_distance = np.einsum("bhid,rhd->bhir", query, inputs["E_slice"])
    by_distance = by_distance + inputs["S_slice"].T[:, np.newaxis, :]
    content = np.einsum("bhid,bhjd->bhij", query + bias, key)
    scores = content + relative_shift_two_directional(by_distance)
    return {"scores": scores.transpose(2, 3, 0, 1)}


def xl_rel_shift(case):
    """Four shifts; ours give the same numbers even where they are garbage."""
    by_distance = case.inputs["x"]
    if "2L-1" in case.name:  # without the row that is never used
        unused = np.zeros_like(by_distance[..., :1])
        by_distance = np.concatenate([unused, by_distance], axis=-1)
    shift = relative_shift_two_directional if "2L" in case.name else relative_shift
    return {"y": shift(by_distance)}


def t5_bucket_torch(case):
    num_buckets, max_distance, direction = re.search(r"nb(\d+) md(\d+) (\w+)", case.name).groups()
    bucket = encodings.t5_bucket(
        case.inputs["r"], int(num_buckets), int(max_distance), bidirectional=direction == "bi"
    )
    return {"bucket": bucket}


def alibi_slopes(case):
    """Slopes by number of heads, and the bias of a step of one query after four cached tokens."""
    if case.name.startswith("n"):
        return dict.fromkeys(case.outputs, encodings.alibi_slopes(int(case.name[1:])))
    steps = encodings.alibi_steps(1, 5, query_start=4)
    bias = encodings.alibi_slopes(4)[:, np.newaxis] * steps
    return {"expected": bias, "bias_row": bias}


def rope(case):
    """Rotated vectors; the layout stands in the output's name."""
    x = case.inputs["x"]
    angle = encodings.rope_angle(range(x.shape[2]), x.shape[3])
    return {
        name: encodings.rotate(x, angle, re.search(r"half|interleaved", name.split("(")[1])[0])
        for name in case.outputs
    }


def music_without_mask(case):
    """The masked skew used without a mask: numbers of other rows above the diagonal."""
    query, key, value, table = (case.inputs[name] for name in ("q", "k", "v", "wk"))
    by_distance = np.einsum("bhid,rd->bhir", query, table)
    logits = np.einsum("bhid,bhjd->bhij", query, key) + relative_shift(by_distance)
    return attend_forward(logits / 2, value)[0]


OTHER_PEERS = {
    function.__name__: function
    for function in (
        hf_transfo_xl, hf_xlnet, labml_xl, xl_rel_shift, t5_bucket_torch, alibi_slopes, rope,
    )
}
