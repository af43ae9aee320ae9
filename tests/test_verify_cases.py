"""The reference cases: what they are made of, that they regenerate, that their judges agree."""

import numpy as np
import pytest

from relpos_np import attention_backward, attention_forward
from relpos_np.__main__ import main
from relpos_np.oracle import oracle_gradients
from relpos_np.verify import cases as kept
from relpos_np.verify.cases import find_case, load_cases
from relpos_np.verify.compare import compare
from relpos_np.verify.expected import conditions
from relpos_np.verify.generate import chain_rule_gradients, generate, make_expected, make_inputs
from relpos_np.verify.specs import SPECS

IDS = [spec.id for spec in SPECS]
SPEC = {spec.id: spec for spec in SPECS}


def kept_arrays(case_id):
    with np.load(kept.CASES_FILE) as archive:
        return {name.removeprefix(f"{case_id}/"): archive[name] for name in archive.files
                if name.startswith(f"{case_id}/")}


def test_the_ids_never_change():
    assert IDS == [
        "unmasked", "causal", "padding", "cross", "one_query", "cross_offset", "big_logits",
        "big_logits_causal", "long", "short", "value_dim", "k_zero", "length_one", "fully_masked",
        "per_head", "key_table_only", "value_table_only", "layer_square", "layer_rectangular",
    ]
    assert [case.id for case in load_cases()] == IDS


def test_the_file_is_small():
    assert kept.CASES_FILE.stat().st_size < 1_000_000


def test_the_smallest_case_regenerates_whole_to_the_same_bytes():
    again, before = generate(SPEC["length_one"]), kept_arrays("length_one")
    assert again.keys() == before.keys()
    for name, array in again.items():
        assert array.tobytes() == before[name].tobytes(), name


@pytest.mark.parametrize("case_id", [i for i in IDS if i != "long"])
def test_inputs_and_stages_regenerate_to_the_same_bytes(case_id):
    spec, before = SPEC[case_id], kept_arrays(case_id)
    inputs, grad_output = make_inputs(spec)
    arrays = {f"inputs/{name}": array for name, array in inputs.items() if array is not None}
    arrays["grad_output"] = grad_output
    expected = make_expected(spec, inputs, grad_output, gradients=False)
    arrays |= {f"expected/{name}": array for name, array in expected.items()}
    for name, array in arrays.items():
        assert array.tobytes() == before[name].tobytes(), name


@pytest.mark.parametrize("case_id", ["length_one", "one_query"])
def test_the_loops_own_backward_agrees_with_60_digit_differences_to_the_last_bit(case_id):
    spec = SPEC[case_id]
    inputs, grad_output = make_inputs(spec)
    options = {"query_start": spec.query_start}
    for by_chain_rule, by_differences in zip(
        chain_rule_gradients(grad_output, *inputs.values(), **options),
        oracle_gradients(grad_output, *inputs.values(), **options), strict=True,
    ):
        np.testing.assert_array_equal(by_chain_rule, by_differences)


@pytest.mark.parametrize("case_id", [i for i in IDS if not SPEC[i].model_dim and i not in (
    "long", "big_logits", "big_logits_causal")])
def test_kept_gradients_by_differences_are_those_of_the_loops_own_backward(case_id):
    case = find_case(case_id)
    grads = chain_rule_gradients(case.grad_output, *case.inputs.values(), mask=case.mask,
                                 query_start=case.query_start)
    for name, grad in grads._asdict().items():
        if grad is not None:
            np.testing.assert_allclose(grad, case.expected[f"grad_{name}"], rtol=1e-15, atol=1e-30)


def test_inputs_are_exact_in_every_format_and_never_zero():
    for case in load_cases():
        for name, array in case.inputs.items():
            if array is not None:
                mantissa, _ = np.frexp(array)
                np.testing.assert_array_equal(mantissa * 2**8, np.round(mantissa * 2**8), name)
                np.testing.assert_array_equal(array.astype(np.float16), array)
                assert np.all(array != 0)


def test_content_and_relative_logits_are_exact_in_float32():
    case = find_case("unmasked")
    stages = {dtype: attention_forward(*(a.astype(dtype) for a in case.inputs.values()))[1]
              for dtype in (np.float64, np.float32)}
    for name in ("content_logits", "relative_logits"):
        np.testing.assert_array_equal(
            getattr(stages[np.float32], name), getattr(stages[np.float64], name))


def test_logits_are_of_the_order_that_is_promised():
    for case_id, least, most in (("unmasked", 4, 10), ("big_logits", 3000, 7000),
                                 ("big_logits_causal", 6000, 25000)):
        scores = find_case(case_id).expected["scores"]
        assert least < np.abs(scores[np.isfinite(scores)]).max() < most


def test_the_tolerance_trips_on_a_thousandth_of_a_percent_in_float32_gradients():
    case = find_case("causal")
    inputs = [a.astype(np.float32) for a in case.inputs.values()]
    grads = attention_backward(case.grad_output.astype(np.float32),
                               attention_forward(*inputs, mask=case.mask)[1])
    condition = conditions(case)["grad_key"]
    expected = case.expected["grad_key"]
    assert compare("causal", "grad_key", grads.key, expected, condition, np.float32) is None
    assert compare("causal", "grad_key", grads.key * np.float32(1.001), expected, condition,
                   np.float32).count > grads.key.size // 2


def test_generating_one_case_keeps_the_others(tmp_path, capsys):
    path = tmp_path / "cases.npz"
    assert main(["cases", "generate", "length_one", "--output", str(path)]) == 0
    with np.load(path) as new, np.load(kept.CASES_FILE) as old:
        assert sorted(new.files) == sorted(old.files)
        for name in old.files:
            assert new[name].tobytes() == old[name].tobytes(), name
    assert main(["cases", "generate", "no_such_case"]) == 4
