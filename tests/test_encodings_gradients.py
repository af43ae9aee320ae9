"""The hand-written backward of every encoding against the complex step."""

import numpy as np
import pytest
from encoding_cases import HEAD_DIM, HEADS, VALUE_DIM, causal, heads
from inputs import random_mask

from relpos_np import check_gradients, encodings
from relpos_np.encodings.relative_shift import (
    relative_shift,
    relative_shift_backward,
    relative_shift_two_directional,
    relative_shift_two_directional_backward,
)

XL = {
    "position_weight": (HEADS, 8, HEAD_DIM), "content_bias": (HEADS, HEAD_DIM),
    "position_bias": (HEADS, HEAD_DIM),
}
# name: forward and backward, shapes of the parameters, options
CASES = {
    "t5": ("t5", {"bias_table": (8, HEADS)}, {"max_distance": 6}),
    "t5 causal": ("t5", {"bias_table": (6, HEADS)}, {"max_distance": 5, "bidirectional": False}),
    "alibi": ("alibi", {"slopes": (HEADS,)}, {}),
    "alibi symmetric": ("alibi", {"slopes": (HEADS,)}, {"form": "symmetric"}),
    "rope half": ("rope", {}, {"layout": "half"}),
    "rope interleaved": ("rope", {}, {"layout": "interleaved", "base": 30.0}),
    "transformer-xl": ("transformer_xl", XL, {}),
    "transformer-xl two-directional": ("transformer_xl", XL, {"two_directional": True}),
    "music": (
        "music_transformer",
        {"key_window": (4, HEAD_DIM), "value_window": (4, VALUE_DIM)}, {},
    ),
    "music keys only": ("music_transformer", {"key_window": (4, HEAD_DIM)}, {}),
    "music per head, wide": (
        "music_transformer",
        {"key_window": (HEADS, 9, HEAD_DIM), "value_window": (HEADS, 9, VALUE_DIM)}, {},
    ),
}


@pytest.fixture
def rng():
    return np.random.default_rng(2104)


def make_case(name, query_len, key_len, rng):
    """Function of its arrays to its output, the arrays, the gradients by hand, the upstream."""
    room, shapes, options = CASES[name]
    forward = getattr(encodings, f"{room}_forward")
    backward = getattr(encodings, f"{room}_backward")
    query, key, value = heads(rng, query_len, key_len)
    inputs = {"query": query, "key": key, "value": value}
    inputs.update({key: rng.normal(size=shape) for key, shape in shapes.items()})
    mask = random_mask(rng, num_heads=HEADS, query_len=query_len, key_len=key_len)
    options = {**options, "mask": mask, "query_start": key_len - query_len}
    output, cache = forward(**inputs, **options)
    grad_output = rng.normal(size=output.shape)
    gradients = backward(grad_output, cache)._asdict()
    gradients = {key: grad for key, grad in gradients.items() if grad is not None}
    assert gradients.keys() == inputs.keys()
    return (lambda **arrays: forward(**arrays, **options)[0]), inputs, gradients, grad_output


@pytest.mark.parametrize(("query_len", "key_len"), [(6, 6), (3, 5), (1, 1)])
@pytest.mark.parametrize("name", CASES)
def test_gradients_by_hand_equal_the_complex_step(name, query_len, key_len, rng):
    check_gradients(*make_case(name, query_len, key_len, rng)).assert_ok()


@pytest.mark.parametrize("name", CASES)
def test_a_gradient_that_is_one_percent_off_is_caught(name, rng):
    function, inputs, gradients, grad_output = make_case(name, 2, 5, rng)
    for planted, gradient in gradients.items():
        report = check_gradients(function, inputs, {planted: gradient * 1.01}, grad_output)
        assert report.errors[0].error > 1000 * report.tolerance


def test_sinusoids_pass_the_gradient_on(rng):
    x, grad = rng.normal(size=(2, 2, 5, 6))
    check_gradients(
        encodings.sinusoidal_forward, {"x": x}, {"x": encodings.sinusoidal_backward(grad)}, grad
    ).assert_ok()


def test_a_learned_position_gets_the_sum_over_the_batch(rng):
    inputs = {"x": rng.normal(size=(2, 4, 6)), "position_table": rng.normal(size=(9, 6))}
    encoded, cache = encodings.learned_absolute_forward(**inputs, query_start=3)
    grad = rng.normal(size=encoded.shape)
    gradients = encodings.learned_absolute_backward(grad, cache)._asdict()
    check_gradients(
        lambda **arrays: encodings.learned_absolute_forward(**arrays, query_start=3)[0],
        inputs, gradients, grad,
    ).assert_ok()
    np.testing.assert_array_equal(gradients["position_table"][[0, 1, 2, 7, 8]], np.zeros((5, 6)))


@pytest.mark.parametrize(("query_len", "key_len"), [(5, 5), (3, 7), (1, 4), (1, 1)])
@pytest.mark.parametrize(
    ("shift", "back", "extra"),
    [
        (relative_shift, relative_shift_backward, 0),
        (relative_shift_two_directional, relative_shift_two_directional_backward, 1),
    ],
)
def test_the_backward_of_a_shift_is_its_transpose(shift, back, extra, query_len, key_len, rng):
    by_distance = rng.normal(size=(2, 3, query_len, key_len + extra * query_len))
    grad = rng.normal(size=(2, 3, query_len, key_len))
    np.testing.assert_allclose(
        np.sum(shift(by_distance) * grad), np.sum(by_distance * back(grad)), rtol=1e-12
    )


def test_a_causal_mask_is_all_that_music_transformer_hides(rng):
    query, key, value = heads(rng)
    window = rng.normal(size=(4, HEAD_DIM))
    without, cache = encodings.music_transformer_forward(query, key, value, window)
    with_mask, _ = encodings.music_transformer_forward(
        query, key, value, window, mask=causal(7, 7)
    )
    np.testing.assert_array_equal(without, with_mask)
    visible = np.broadcast_to(causal(7, 7), (2, 3, 7, 7))
    np.testing.assert_array_equal(cache.attend.weights > 0, visible)
