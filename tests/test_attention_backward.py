"""Every element of all five gradients, against the complex step and against 60 digits."""

import numpy as np
import pytest
from inputs import NAMES, random_inputs, random_mask

from relpos_np import attention_backward, attention_forward, check_gradients, taylor_slope
from relpos_np.oracle import oracle_attention, oracle_gradients

CASES = {
    "unmasked": {},
    "per-head tables": {"per_head": True},
    "cross": {"query_len": 3, "key_len": 7},
    "k = 0": {"k": 0},
    "k beyond the length": {"k": 9},
    "length 1": {"query_len": 1},
    "big logits": {"scale": 3.0},
}


def forward_and_backward(rng, sizes, masked):
    inputs = random_inputs(rng, **sizes)
    query_len, key_len = inputs["query"].shape[2], inputs["key"].shape[2]
    options = {"query_start": key_len - query_len}
    if masked:
        options["mask"] = random_mask(rng, query_len=query_len, key_len=key_len)
    output, cache = attention_forward(**inputs, **options)
    grad_output = rng.normal(size=output.shape)
    return inputs, options, grad_output, output, attention_backward(grad_output, cache)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", CASES.values(), ids=CASES.keys())
def test_all_five_gradients_equal_the_complex_step(sizes, masked):
    rng = np.random.default_rng(0)
    inputs, options, grad_output, _, grads = forward_and_backward(rng, sizes, masked)
    report = check_gradients(
        lambda **moved: attention_forward(**moved, **options)[0],
        inputs, grads._asdict(), grad_output, tolerance=1e-13,
    )
    report.assert_ok()
    assert [entry.name for entry in report.errors] == list(NAMES)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", CASES.values(), ids=CASES.keys())
def test_output_and_gradients_are_within_a_few_units_in_the_last_place_of_60_digits(sizes, masked):
    rng = np.random.default_rng(1)
    sizes = {"batch": 2, "num_heads": 2, "head_dim": 3, "value_dim": 2, "query_len": 4} | sizes
    rng_sizes = {name: size for name, size in sizes.items() if name != "scale"}
    inputs = random_inputs(rng, **sizes)
    query_len, key_len = inputs["query"].shape[2], inputs["key"].shape[2]
    options = {"query_start": key_len - query_len}
    if masked:
        options["mask"] = random_mask(
            rng, batch=2, num_heads=rng_sizes["num_heads"], query_len=query_len, key_len=key_len
        )
    output, cache = attention_forward(**inputs, **options)
    grad_output = rng.normal(size=output.shape)
    grads = attention_backward(grad_output, cache)
    exact = oracle_gradients(grad_output, *inputs.values(), **options)
    assert units_in_last_place(output, oracle_attention(*inputs.values(), **options).output) <= 8
    for name, grad in grads._asdict().items():
        assert units_in_last_place(grad, getattr(exact, name)) <= 16, name


def units_in_last_place(got, exact):
    """Largest error, in units in the last place of the array's largest element."""
    return np.abs(got - exact).max() / np.spacing(max(np.abs(exact).max(), 1.0))


def test_the_taylor_remainder_falls_with_the_square_of_the_step():
    rng = np.random.default_rng(2)
    inputs, options, grad_output, _, grads = forward_and_backward(rng, {}, masked=True)
    slope = taylor_slope(
        lambda **moved: attention_forward(**moved, **options)[0],
        inputs, grads._asdict(), grad_output, rng,
    )
    assert 1.9 < slope < 2.1, slope


def test_the_upstream_gradient_must_have_the_shape_of_the_output():
    output, cache = attention_forward(**random_inputs(np.random.default_rng(3)))
    with pytest.raises(ValueError, match=r"grad_output has shape \(2, 3, 7\), output has"):
        attention_backward(output[..., 0], cache)
