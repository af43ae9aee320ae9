"""Recorded outputs handed to `identify` as a stranger would: it must name convention and defect."""

import numpy as np
import pytest
from peers.layers import NUM_HEADS, project
from peers.recordings import case_of
from peers.shaw import NAMES

from relpos_np import conventions
from relpos_np.heads import split_heads
from relpos_np.verify import identify

ONE_ROW = "prefill_one_row"  # the same formula as every query at the last position
LAST_POSITION = "prefill_last_position"


def torch_parameters(case):
    """A copy of the inputs in which every projection is a torch Linear of its own."""
    parameters = dict(case.inputs)
    if case.peer == "lucidrains_conformer":
        halves = np.split(parameters["to_kv.weight"], 2)
        parameters["to_k.weight"], parameters["to_v.weight"] = halves
    if case.peer == "opennmt_tf":
        for number, name in enumerate(NAMES["opennmt_tf"]):
            parameters[f"{name}.weight"] = parameters[f"dense_{number}/kernel:0"].T
            parameters[f"{name}.bias"] = parameters[f"dense_{number}/bias:0"]
    return parameters


def heads_of(case, key_table, value_table=None, queries="x", keys="x"):
    """What the attention inside a recorded layer was given."""
    parameters = torch_parameters(case)
    names = NAMES[case.peer]
    inputs = {
        "query": project(parameters[queries], parameters, names[0]),
        "key": project(parameters[keys], parameters, names[1]),
        "value": project(parameters[keys], parameters, names[2]),
        "relative_key_table": key_table, "relative_value_table": value_table,
    }
    return inputs if case.mask is None else {**inputs, "mask": case.mask}


def attended(case, output):
    """What the attention inside put out: the output projection undone."""
    parameters, names = torch_parameters(case), NAMES[case.peer]
    if len(names) > 3:
        weight, bias = parameters[f"{names[3]}.weight"], parameters.get(f"{names[3]}.bias", 0)
        output = np.linalg.solve(weight, (output - bias).swapaxes(1, 2)).swapaxes(1, 2)
    return split_heads(output, NUM_HEADS)


def step(inputs, start, stop):
    """The queries from start to stop of nine, all keys before them in the cache."""
    return {
        **inputs, "query": inputs["query"][:, :, start:stop], "query_start": start,
        "key": inputs["key"][:, :, :stop], "value": inputs["value"][:, :, :stop],
        "mask": np.tril(np.ones((9, 9), dtype=bool))[start:stop, :stop],
    }


def names(found):
    return {entry.name for entry in found}


def test_one_row_for_a_whole_chunk_is_named_in_opennmt_py():
    case = case_of("opennmt_py", "cache_L9_k2_f64")
    tables = conventions.from_one_table(case.inputs["relative_positions_embeddings.weight"])
    inputs = heads_of(case, *tables)
    output = attended(case, case.outputs["chunks5_4"])
    prompt = identify(step(inputs, 0, 5), output[:, :, :5], tolerance=1e-5)
    assert names(prompt) == {ONE_ROW, LAST_POSITION}
    chunk = identify(step(inputs, 5, 9), output[:, :, 5:], tolerance=1e-5)
    assert ONE_ROW in names(chunk)
    assert all(entry.verdict == "MISTAKE" for entry in (*prompt, *chunk))


def test_one_row_for_a_whole_chunk_is_named_in_opennmt_tf():
    case = case_of("opennmt_tf", "cache_L9_k2_f64")
    tables = case.inputs["relative_position_keys:0"], case.inputs["relative_position_values:0"]
    inputs = heads_of(case, *tables)
    output = attended(case, case.outputs["chunks5_4"])
    found = identify(step(inputs, 0, 5), output[:, :, :5])
    assert names(found) == {ONE_ROW, LAST_POSITION}
    assert ONE_ROW in names(identify(step(inputs, 5, 9), output[:, :, 5:]))
    right = attended(case, case.outputs["full"])
    assert names(identify(step(inputs, 5, 9), right[:, :, 5:])) == {"right"}


def test_every_query_at_the_last_position_is_named_in_bert():
    case = case_of("hf_bert_relative_key", "cache_L9_f64")
    table = conventions.from_reversed(case.inputs["distance_embedding.weight"])
    inputs = heads_of(case, table)
    for output, start, stop in (("prefill5", 0, 5), ("chunk4", 5, 9)):
        found = identify(step(inputs, start, stop), attended(case, case.outputs[output]))
        assert LAST_POSITION in names(found)
        assert "right" not in names(found)


def test_one_row_for_four_queries_is_named_in_tensor2tensor():
    case = case_of("tensor2tensor_relative_v1", "q4_k9_f64")
    fields = ("query", "key", "value", "relative_key_table", "relative_value_table")
    inputs = {
        field: case.inputs[name]
        for field, name in zip(fields, ("q", "k", "v", "wk", "wv"), strict=True)
    }
    assert ONE_ROW in names(identify(inputs, case.outputs["cache4"]))
    assert names(identify(inputs, case.outputs["allow_memory"])) == {"right"}


def test_queries_numbered_from_the_first_key_are_named():
    case = case_of("evelinehong", "q3_k7_f64")
    tables = [case.inputs[f"relative_position_{x}.embeddings_table"] for x in "kv"]
    inputs = heads_of(case, *tables, queries="xq", keys="xk")
    found = identify(inputs, attended(case, case.outputs["out"]))
    assert "no_query_offset" in names(found)
    assert "right" not in names(found)
    inputs["query_start"] = 0
    assert "right" in names(identify(inputs, attended(case, case.outputs["out"])))


# Tables as the software had them: (peer, case, names of its tables, what must be among the names)
CONVENTIONS = [
    ("hf_vits", "L17_w4_rand_f64", ("emb_rel_k", "emb_rel_v"), "zero_window"),
    ("hf_bert_relative_key", "L17_rand_f64", ("distance_embedding.weight",), "aK_flipped_only"),
    ("hf_wav2vec2_bert_relative_key", "L17_left4_right2_rand_f64",
     ("distance_embedding.weight",), "left_4_right_2"),
    ("lucidrains_conformer", "L17_M4_nomask_f64", ("rel_pos_emb.weight",), "aK_flipped_only"),
    ("opennmt_py", "L17_k4_rand_f64", ("relative_positions_embeddings.weight",) * 2, "right"),
    ("evelinehong", "L17_k2_rand_f64", ("relative_position_k.embeddings_table",
                                        "relative_position_v.embeddings_table"), "right"),
]


@pytest.mark.parametrize(("peer", "name", "tables", "expected"), CONVENTIONS, ids=str)
def test_the_convention_of_a_peer_is_named(peer, name, tables, expected):
    case = case_of(peer, name)
    inputs = heads_of(case, *(case.inputs[table].reshape(-1, 4) for table in tables))
    tolerance = 1e-5 if peer == "opennmt_py" else None  # its softmax is float32
    found = identify(inputs, attended(case, case.outputs["out"]), tolerance=tolerance)
    assert expected in names(found)
    verdict = next(entry.verdict for entry in found if entry.name == expected)
    assert verdict == ("PASS" if expected == "right" else "CONVENTION")


def test_fully_masked_queries_of_the_conformer_are_seen_to_be_uniform():
    case = case_of("lucidrains_conformer", "L17_M4_pad_f64")
    inputs = heads_of(case, case.inputs["rel_pos_emb.weight"])
    found = identify(inputs, attended(case, case.outputs["out"]))
    assert {entry.hidden_rows for entry in found} == {"uniform"}
