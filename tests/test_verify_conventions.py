"""Other layouts are told from mistakes, and the line that converts is right."""

import numpy as np
import pytest
from inputs import random_inputs
from verify_candidates import as_attention, as_layer, flat

from relpos_np import attention_forward, conventions, multihead_forward
from relpos_np.verify import identify, verify
from relpos_np.verify.formula import INPUTS, relative_output, run_forward
from relpos_np.verify.layer_formula import LAYER_INPUTS
from relpos_np.verify.mistakes import CONVENTION, EVERYTHING, LAYER, RESCALE, find


@pytest.fixture
def rng():
    return np.random.default_rng(2018)


def paper(**inputs):
    return attention_forward(**inputs)[0]


# The conversion lines of the catalogue, as they are printed, run on the arguments of a call.
NUMPY = {"np": np, "sqrt": np.sqrt, "len": len, "from_zero_window": conventions.from_zero_window,
         "from_left_right": conventions.from_left_right}


def converted(entry, arguments, **sizes):
    """What `entry.repair` makes of the arguments; a line about `table` is run for both."""
    names = dict(arguments)
    code = entry.repair.partition("  #")[0]
    if code.startswith("table ="):
        for name in ("relative_key_table", "relative_value_table"):
            scope = {**NUMPY, **sizes, "table": names[name]}
            exec(code, scope)
            names[name] = scope["table"]
        return names
    scope = {**NUMPY, **sizes, **names}
    exec(code, scope)
    return {name: scope[name] for name in names}


OF_ATTENTION = [entry for entry in EVERYTHING
                if entry.verdict in (CONVENTION, RESCALE) and entry not in LAYER]


@pytest.mark.parametrize("entry", OF_ATTENTION, ids=lambda entry: entry.name)
def test_after_the_printed_line_the_right_formula_gives_their_outputs(entry, rng):
    query_len = 3 if entry.name == "queries_at_the_last_rows" else 7
    inputs = random_inputs(rng, query_len=query_len, key_len=7, value_dim=6, k=4)
    inputs |= {"mask": np.tri(7, dtype=bool)[-query_len:], "query_start": 0}
    with_zeros = {**inputs, "mask": inputs["mask"] | (np.arange(7) == 0)}
    theirs = run_forward(with_zeros, entry.change).output
    sizes = {"k": 4, "head_dim": 6, "value_dim": 6, "num_heads": 3,
             "query_len": query_len, "key_len": 7}
    ours = paper(**converted(entry, with_zeros, **sizes))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert np.abs(paper(**with_zeros) - theirs).max() > 1e-2, "the line had nothing to convert"


@pytest.mark.parametrize("entry", [e for e in LAYER if e.verdict == CONVENTION],
                         ids=lambda entry: entry.name)
def test_after_the_printed_line_the_right_layer_gives_their_outputs(entry, rng):
    shapes = [(2, 5, 12), *[(12, 12)] * 4, (5, 4), (5, 4)]
    inputs = {name: rng.normal(size=shape)
              for name, shape in zip(LAYER_INPUTS, shapes, strict=True)}
    theirs = as_layer(entry.change)(*inputs.values(), num_heads=3)
    code = entry.repair.partition("  #")[0]
    scope = {"m": 12, "h": 3, "d": 4, **inputs}
    exec(code, scope)
    for name in MEANT_TOO.get(entry.name, ()):  # what the remark behind the line says in words
        turn = name.endswith(".T")
        name = name.removesuffix(".T")
        line = code.replace("query_weight", name)
        scope[name] = scope[name].T if turn else scope[name]
        exec(line, scope)
        scope[name] = scope[name].T if turn else scope[name]
    ours, _ = multihead_forward(*(scope[name] for name in LAYER_INPUTS), num_heads=3)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


MEANT_TOO = {
    "weights_transposed": ("key_weight", "value_weight", "output_weight"),
    "qkv_weights_transposed": ("key_weight", "value_weight"),
    "heads_interleaved": ("key_weight", "value_weight", "output_weight.T"),
    "heads_interleaved_split": ("key_weight", "value_weight"),
}


def test_the_tutorials_einsum_is_named_with_its_convention_and_its_right_form():
    def tutorial(query, key, value, key_table, value_table, mask=None):
        length, k = query.shape[2], (value_table if key_table is None else key_table).shape[0] // 2
        distance = np.arange(length)[None, :] - np.arange(length)[:, None]
        index = np.clip(distance, -k, k) + k
        scores = query @ key.swapaxes(-1, -2)
        if key_table is not None:
            scores = scores + np.einsum("bhqd,Lqd->bhqL", query, key_table[index])
        scores = scores / np.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        output = weights @ value
        if value_table is not None:
            output = output + np.einsum("bhqL,qLd->bhqd", weights, value_table[index])
        return output

    report = verify(tutorial)
    assert (report.verdict, report.exit_code) == ("CONVENTION", 2), str(report)
    assert report.names == ("K_index_transposed",)
    assert set(verify(tutorial, without=["cross"]).names) == {
        "K_index_transposed", "aK_flipped_only"}
    assert "relative_key_table = relative_key_table[..., ::-1, :]" in flat(report)
    assert "The right form is einsum('bhqd,qLd->bhqL')" in flat(report)
    assert "averages over all keys" in flat(report)  # its fully masked rows


@pytest.mark.parametrize(("habit", "fill", "name"), [
    ("nan", lambda s, m: np.where(m, s, -np.inf), "hidden_rows_nan"),
    ("uniform", lambda s, m: np.where(m, s, -1e9), "hidden_rows_uniform"),
    ("unmasked", lambda s, m: s + np.where(m, 0, -1e6), "hidden_rows_unmasked"),
])
def test_another_habit_for_rows_that_may_attend_to_nothing_is_a_convention(habit, fill, name):
    def weights(x):
        with np.errstate(invalid="ignore"):
            scores = x.scaled_logits if x.mask is None else fill(x.scaled_logits, x.mask)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    report = verify(as_attention({"weights": weights}))
    assert report.names == (name,), str(report)
    assert report.exit_code == 2
    assert {case.id for case in report.cases if case.status == "differs"} == {"fully_masked"}
    verify(as_attention({"weights": weights}), without=["fully_masked"]).assert_ok()


@pytest.mark.parametrize(("sign", "name"), [(1, "unclipped_rows"), (-1, "unclipped_reversed_rows")])
def test_a_table_with_a_row_for_every_distance_is_told_from_a_wrong_index(sign, name):
    def embedding(x):
        index = sign * (x.j - x.i) + x.k
        if index.min() < 0 or index.max() >= x.num_rows:
            raise IndexError("index out of range in self")
        return index

    def uniform_rows(x):
        scores = x.scaled_logits if x.mask is None else np.where(x.mask, x.scaled_logits, -1e30)
        return x.softmax(scores)

    report = verify(as_attention({"index": embedding, "weights": uniform_rows}))
    assert report.names == (name,), str(report)
    assert "averages over all keys" in flat(report)
    assert report.exit_code == 2
    assert "with tables converted like this every case passes" in flat(report)


def powers_of_two(x):
    return x.softmax(x.scores * x.query.dtype.type(np.log(2)))


def rows_rotated_by_two(x):
    return (np.clip(x.j - x.i, -x.k, x.k) + x.k + 2) % x.num_rows


def value_rows_backwards_and_rotated(x):
    return x.value_rows[:, (1 - x.index) % x.num_rows]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("changes", "name", "code"), [
    ({"weights": powers_of_two}, "solved_scale", 2),
    ({"relative_output": lambda x: 3 * relative_output(x)}, "solved_scale", 2),
    ({"index": rows_rotated_by_two}, "solved_rows", 2),
    ({"relative_value": value_rows_backwards_and_rotated}, "solved_rows", 2),
], ids=["exp2 for exp", "value term three times", "rotated by two", "backwards and rotated"])
def test_an_unlisted_scale_or_order_of_rows_is_solved(changes, name, code, dtype, rng):
    report = verify(as_attention(changes), dtype=dtype)
    assert report.names == (name,), str(report)
    assert report.exit_code == code
    (line,) = (line for line in report.findings[0].lines if line.startswith("convert:"))
    inputs = random_inputs(rng, value_dim=6)
    theirs = as_attention(changes)(*inputs.values())
    scope = {"np": np, **inputs}
    exec(line.removeprefix("convert:").strip(), scope)
    ours = paper(**{name: scope[name] for name in inputs})
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 if dtype == "float64" else 1e-5)


def test_identify_names_what_reproduces_a_recorded_output(rng):
    inputs = random_inputs(rng, query_len=3, key_len=8, dtype=np.float32)
    exact = {**{name: inputs[name].astype(float) for name in INPUTS}, "mask": None,
             "query_start": 5}
    for names, expected in {
        (): {"right"}, ("sign_flip",): {"sign_flip"},
        ("prefill_one_row",): {"prefill_one_row", "prefill_last_position", "chunk_one_row"},
        ("zero_window",): {"zero_window"},
        ("sign_flip", "prefill_last_position"): {"sign_flip + prefill_last_position"},
    }.items():
        changes = {step: change for name in names for step, change in find(name).change.items()}
        recorded = run_forward(exact, changes).output.astype(np.float32)
        # With all keys to the left, abs_distance is sign_flip: more than one pair may fit.
        assert {found.name for found in identify(inputs, recorded)} >= expected


def test_identify_reads_tables_of_unequal_sides_and_recorded_weights(rng):
    inputs = random_inputs(rng, query_len=7, value_dim=6)
    for name in ("relative_key_table", "relative_value_table"):
        inputs[name] = rng.normal(size=(4, 6))
    theirs = {name: conventions.from_left_right(inputs[name], left=1, right=2)
              for name in ("relative_key_table", "relative_value_table")}
    _, cache = attention_forward(**{**inputs, **theirs})
    assert [found.name for found in identify(inputs, cache.output)] == ["left_1_right_2"]
    (found,) = identify(inputs, weights=cache.weights)
    assert (found.name, found.verdict) == ("left_1_right_2", "CONVENTION")
    assert identify(inputs, cache.output + 1, pairs=False) == ()
    with pytest.raises(ValueError, match="give at least one of output, weights, scores"):
        identify(inputs)
