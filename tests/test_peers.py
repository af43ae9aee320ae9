"""Recorded outputs of real software, recomputed with ours after converting its tables."""

import numpy as np
import pytest
from peers.compare import (
    BFLOAT16,
    DEFECTS,
    FLOAT32_SOFTMAX,
    FULLY_MASKED,
    PEERS,
    differences,
    tolerance,
)
from peers.layers import linear, project
from peers.others import alibi_slopes, music_without_mask
from peers.recordings import FOLDER, case_of, load, peers
from peers.shaw import NAMES, SHAW_PEERS

from relpos_np import attention_forward, conventions
from relpos_np.heads import merge_heads

CAUSAL = np.tril(np.ones((9, 9), dtype=bool))


@pytest.mark.parametrize("peer", PEERS)
def test_recorded_outputs_and_gradients_are_ours(peer):
    found = differences(peer)
    assert found
    for case, output, precision, _, error in found:
        assert error <= tolerance(peer, precision), (case, output, error)


def test_every_recording_is_compared_and_says_where_it_is_from():
    assert set(peers()) == set(PEERS)
    for peer in PEERS:
        about, cases = load(peer)
        assert set(about) == {"package", "version", "licence"}
        assert all(about.values())
        assert cases
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 3e6


@pytest.mark.parametrize("peer", SHAW_PEERS)
def test_every_shaw_peer_has_a_masked_a_long_and_a_gradient_case(peer):
    found = differences(peer)
    if peer == "ctranslate2":  # float32, forward only; its mask comes from lengths
        assert {d.precision for d in found} == {"float32"}
    else:
        assert {"float64", "float32"} == {d.precision for d in found}
        assert any(d.is_gradient for d in found)
    assert any("causal" in d.case or "rand" in d.case or "pad" in d.case or "decoder" in d.case
               for d in found)
    assert any("L33" in d.case for d in found)


@pytest.mark.parametrize("peer", [p for p in SHAW_PEERS if p not in ("ctranslate2",)])
def test_a_table_read_backwards_shows_in_every_recording(peer, monkeypatch):
    # The comparison could not fail if the tables did not matter in it.
    original = attention_forward

    def flipped(query, key, value, key_table, value_table=None, **options):
        return original(query, key, value, key_table[..., ::-1, :], value_table, **options)

    for module in ("peers.layers", "peers.shaw"):
        monkeypatch.setattr(f"{module}.attention_forward", flipped)
    worst = max(d.error for d in differences(peer) if d.precision == "float64")
    assert worst > 1000 * tolerance(peer, "float64")


def test_ctranslate2_generates_the_tokens_of_its_logits():
    for case in load("ctranslate2")[1]:
        if case.name.startswith("decoder"):
            best = case.outputs["step_logits"].argmax(axis=-1)
            np.testing.assert_array_equal(best, case.outputs["generated"])


def test_alibi_slopes_in_bfloat16_are_ours_rounded():
    for case in load("alibi_slopes")[1]:
        if BFLOAT16 in case.outputs:
            np.testing.assert_allclose(
                case.outputs[BFLOAT16], alibi_slopes(case)[BFLOAT16], rtol=2**-8
            )


# What the packages get wrong: each defect, once we make the same mistake, gives their numbers.


def one_row_for_all(query, key, value, tables, chunks, mask):
    """Cached chunks in which every query takes the distances of the last one."""
    return np.concatenate([
        attention_forward(
            query[:, :, i : i + 1], key[:, :, :stop], value[:, :, :stop], *tables,
            mask=None if mask is None else mask[i : i + 1, :stop], query_start=stop - 1,
        )[0]
        for start, stop in chunks for i in range(start, stop)
    ], axis=2)


def cached_layer(case, names, tables, chunks, parameters=None):
    parameters = parameters or case.inputs
    heads = (project(case.inputs["x"], parameters, name) for name in names[:3])
    merged = merge_heads(one_row_for_all(*heads, tables, chunks, CAUSAL))
    return linear(merged, parameters, names[3]) if len(names) > 3 else merged


TWO_CHUNKS = [(0, 5), (5, 9)]


def test_opennmt_py_gives_one_row_of_distances_to_a_whole_chunk():
    case = case_of("opennmt_py", "cache_L9_k2_f64")
    tables = conventions.from_one_table(case.inputs["relative_positions_embeddings.weight"])
    prompt = [(0, 5), (5, 6), (6, 7), (7, 8), (8, 9)]
    for name, chunks in {"chunks5_4": TWO_CHUNKS, "prefill5_then_1": prompt}.items():
        got = cached_layer(case, NAMES["opennmt_py"], tables, chunks)
        np.testing.assert_allclose(case.outputs[name], got, rtol=0, atol=5e-6)
        assert np.abs(case.outputs[name] - case.outputs["full"]).max() > 1


def test_opennmt_tf_gives_one_row_of_distances_to_a_whole_chunk():
    case = case_of("opennmt_tf", "cache_L9_k2_f64")
    tables = case.inputs["relative_position_keys:0"], case.inputs["relative_position_values:0"]
    parameters = {}
    for number, name in enumerate(NAMES["opennmt_tf"]):
        parameters[f"{name}.weight"] = case.inputs[f"dense_{number}/kernel:0"].T
        parameters[f"{name}.bias"] = case.inputs[f"dense_{number}/bias:0"]
    got = cached_layer(case, NAMES["opennmt_tf"], tables, TWO_CHUNKS, parameters)
    np.testing.assert_allclose(case.outputs["chunks5_4"], got, rtol=0, atol=1e-12)
    assert np.abs(case.outputs["chunks5_4"] - case.outputs["full"]).max() > 0.5


def test_bert_with_a_cache_puts_every_query_at_the_last_position():
    case = case_of("hf_bert_relative_key", "cache_L9_f64")
    tables = conventions.from_reversed(case.inputs["distance_embedding.weight"]), None
    got = cached_layer(case, NAMES["hf_bert_relative_key"], tables, TWO_CHUNKS)
    np.testing.assert_allclose(case.outputs["prefill5"], got[:, :5], rtol=0, atol=1e-12)
    np.testing.assert_allclose(case.outputs["chunk4"], got[:, 5:], rtol=0, atol=1e-12)
    assert np.abs(case.outputs["prefill5"] - case.outputs["full"][:, :5]).max() > 1


def test_tensor2tensor_with_a_cache_gives_one_row_of_distances_to_four_queries():
    case = case_of("tensor2tensor_relative_v1", "q4_k9_f64")
    query, key, value, *tables = (case.inputs[name] for name in ("q", "k", "v", "wk", "wv"))
    rows = np.concatenate([
        attention_forward(query[:, :, i : i + 1], key, value, *tables, query_start=8)[0]
        for i in range(4)
    ], axis=2)
    np.testing.assert_allclose(case.outputs["cache4"], rows, rtol=0, atol=1e-12)
    assert np.abs(case.outputs["cache4"] - case.outputs["allow_memory"]).max() > 1


def test_opennmt_py_takes_the_first_row_of_a_cached_alibi_bias():
    case = case_of("alibi_slopes", "opennmt_py_decode_after_full_pass")
    right = alibi_slopes(case)["bias_row"]
    np.testing.assert_array_equal(case.outputs["bias_row"], right[:, ::-1])  # -0, -1, .. -4


def test_the_masked_skew_without_a_mask_attends_by_numbers_of_other_rows():
    case = case_of("tensor2tensor_music_v2_masked", "L5_masked_variant_without_mask_f64")
    np.testing.assert_allclose(case.outputs["out"], music_without_mask(case), rtol=0, atol=1e-12)
    table = conventions.from_causal_window(case.inputs["wk"])
    shaw, _ = attention_forward(*(case.inputs[name] for name in "qkv"), table)
    assert np.abs(case.outputs["out"] - shaw).max() > 0.1


def test_a_query_that_opennmt_tf_masks_fully_gets_the_mean_of_all_values():
    full = case_of("opennmt_tf", "cache_L9_k2_f64")
    masked = case_of("opennmt_tf", "fully_masked_row_f64")
    other = np.delete(masked.outputs["out"] - full.outputs["full"], 3, axis=1)
    np.testing.assert_allclose(other, np.zeros_like(other), atol=1e-12)
    kernels, biases = ([full.inputs[f"dense_{n}/{kind}:0"] for n in range(4)]
                       for kind in ("kernel", "bias"))
    mean_value = (full.inputs["x"] @ kernels[2] + biases[2]).mean(axis=1)
    relative = full.inputs["relative_position_values:0"]
    rows = np.clip(np.arange(9) - 3, -2, 2) + 2
    mean_relative = np.tile(relative[rows].mean(axis=0), 2)
    expected = (mean_value + mean_relative) @ kernels[3] + biases[3]
    np.testing.assert_allclose(masked.outputs["out"][:, 3], expected, rtol=0, atol=1e-12)


def test_the_lists_of_exceptions_hold_nothing_else():
    for peer, case in (*DEFECTS, *FULLY_MASKED):
        outputs = case_of(peer, case).outputs
        for names in (DEFECTS.get((peer, case), ()), FULLY_MASKED.get((peer, case), ())):
            assert set(names) <= set(outputs)
    assert set(FLOAT32_SOFTMAX) <= set(SHAW_PEERS)
