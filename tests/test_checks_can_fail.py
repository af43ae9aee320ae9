"""Every kind of check, seen to fail: one line of the library is changed, and the check must trip.

A fault is planted in the source itself (one text, found exactly once, replaced by another), so
what is tried is the code that readers run. Each must exceed the tolerance of its check 1000-fold.
"""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from inputs import random_inputs, random_mask
from test_attention import naive_heads

from relpos_np import attention_forward, check_gradients, multihead_forward, taylor_slope
from relpos_np.commands.tour import recompute
from relpos_np.data import load_voice
from relpos_np.oracle import oracle_attention

ROOMS = (
    "positions", "table", "softmax", "attention", "attention_matmul", "attention_backward",
    "heads", "multihead",
)
NAIVE_TOLERANCE, COMPLEX_STEP_TOLERANCE, ORACLE_TOLERANCE = 1e-12, 1e-13, 1e-14
VOICE_WEIGHTS_TOLERANCE = 1e-6
MARGIN = 1000

FORWARD_FAULTS = {
    "sign of j - i": (
        "positions",
        "key_position[np.newaxis, :] - query_position[:, np.newaxis]",
        "query_position[:, np.newaxis] - key_position[np.newaxis, :]",
    ),
    "clip at k - 1": (
        "positions", 'whole_numbers("relative_position", relative_position), -k, k)',
        'whole_numbers("relative_position", relative_position), 1 - k, k - 1)',
    ),
    "query_start forgotten": (
        "positions", "query_position = query_start + np", "query_position = np"
    ),
    "value table dropped": (
        "attention", "    output = content_output + relative_output", "    output = content_output"
    ),
    "key table dropped": (
        "attention", "(content_logits + relative_logits)", "(content_logits)"
    ),
    "scale on one term": (
        "attention", "(content_logits + relative_logits) / math.sqrt(head_dim)",
        "content_logits / math.sqrt(head_dim) + relative_logits",
    ),
    "sqrt(head_dim) forgotten": ("attention", " / math.sqrt(head_dim)", ""),
    "softmax over queries": (
        "attention", "weights = softmax(scores)",
        "weights = softmax(scores.swapaxes(-1, -2)).swapaxes(-1, -2)",
    ),
    "mask ignored": (
        "attention", "scores = mask_scores(scaled_logits, mask)", "scores = scaled_logits"
    ),
    "mask inverted": ("softmax", "np.where(mask, scores,", "np.where(~mask, scores,"),
}

BACKWARD_FAULTS = {
    "scatter by =": (
        "table", "np.add.at(grad_table, (..., index, slice(None)), grad_pairs)",
        "grad_table[..., index, :] = grad_pairs",
    ),
    "scatter by +=": (
        "table", "np.add.at(grad_table, (..., index, slice(None)), grad_pairs)",
        "grad_table[..., index, :] += grad_pairs",
    ),
    "softmax backward without its row sum": (
        "softmax", "weights * (grad_weights - row_sum)", "weights * grad_weights"
    ),
    "a path missing from grad query": (
        "attention_backward", "grad_query_content + grad_query_relative", "grad_query_content"
    ),
    "a path missing from grad weights": (
        "attention_backward", "grad_weights_content + grad_weights_relative",
        "grad_weights_content",
    ),
    "sqrt(head_dim) forgotten in the backward": (
        "attention_backward", " / math.sqrt(cache.query.shape[3])", ""
    ),
    "table gradients swapped": (
        "attention_backward", "    return AttentionGrads(",
        "    grad_key_table, grad_value_table = grad_value_table, grad_key_table\n"
        "    return AttentionGrads(",
    ),
    "key gradient 0.5% too large": (
        "attention_backward", "grad_key = np.einsum(", "grad_key = 1.005 * np.einsum("
    ),
    "mask ignored in the backward": (
        "attention_backward", "softmax_backward(grad_weights, cache.weights)",
        "softmax_backward(grad_weights, __import__('relpos_np').softmax(cache.scaled_logits))",
    ),
    "first batch entry only": (
        "attention_backward", 'f"bhij,bhid->{key_pairs}", grad_logits, cache.query',
        'f"bhij,bhid->{key_pairs}", grad_logits[:1], cache.query[:1]',
    ),
    "pairs beyond k dropped": (
        "attention_backward", "(grad_relative_key, cache.index, num_rows)",
        "(grad_relative_key * (cache.relative_position == cache.clipped_position)[..., None], "
        "cache.index, num_rows)",
    ),
}


def plant(room, right, wrong):
    """All public names of the core, with `right` replaced by `wrong` in the source of `room`."""
    planted = {}
    for name in ROOMS:
        source = Path(import_module(f"relpos_np.{name}").__file__).read_text()
        if name == room:
            assert source.count(right) == 1, f"{right!r} stands {source.count(right)} times"
            source = source.replace(right, wrong)
        namespace = {"__name__": f"planted.{name}"}
        exec(compile(source, name, "exec"), namespace)
        namespace.update({known: planted[known] for known in planted if known in namespace})
        planted.update({
            public: thing for public, thing in namespace.items()
            if getattr(thing, "__module__", None) == namespace["__name__"]
        })
    return planted


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    # value_dim equals head_dim, or swapped table gradients would be caught by their shapes.
    inputs = random_inputs(rng, query_len=5, key_len=7, head_dim=4, value_dim=4)
    options = {"mask": random_mask(rng, query_len=5), "query_start": 2}
    output, _ = attention_forward(**inputs, **options)
    return inputs, options, rng.normal(size=output.shape)


def test_without_a_fault_the_planting_changes_nothing(problem):
    inputs, options, _ = problem
    planted = plant("attention", "    output = content_output", "    output = content_output")
    output, _ = planted["attention_forward"](**inputs, **options)
    np.testing.assert_array_equal(output, attention_forward(**inputs, **options)[0])
    assert worst_gradient(planted, problem) <= COMPLEX_STEP_TOLERANCE


@pytest.mark.parametrize("fault", FORWARD_FAULTS)
def test_a_forward_fault_trips_the_double_loop_and_the_oracle(problem, fault):
    inputs, options, _ = problem
    output, _ = plant(*FORWARD_FAULTS[fault])["attention_forward"](**inputs, **options)
    naive_output = naive_heads(inputs, options["mask"], options["query_start"])[2]
    assert np.abs(output - naive_output).max() > MARGIN * NAIVE_TOLERANCE
    exact = oracle_attention(*inputs.values(), **options).output
    assert np.abs(output - exact).max() > MARGIN * ORACLE_TOLERANCE


def worst_gradient(planted, problem):
    """Largest error of the planted backward against the complex step of the right forward."""
    inputs, options, grad_output = problem
    _, cache = planted["attention_forward"](**inputs, **options)
    grads = planted["attention_backward"](grad_output, cache)
    report = check_gradients(
        lambda **moved: attention_forward(**moved, **options)[0],
        inputs, grads._asdict(), grad_output,
    )
    return max(entry.error for entry in report.errors)


@pytest.mark.parametrize("fault", BACKWARD_FAULTS)
def test_a_backward_fault_trips_the_complex_step(problem, fault):
    planted = plant(*BACKWARD_FAULTS[fault])
    assert worst_gradient(planted, problem) > MARGIN * COMPLEX_STEP_TOLERANCE


@pytest.mark.parametrize("fault", BACKWARD_FAULTS)
def test_a_backward_fault_bends_the_taylor_slope_to_one(problem, fault):
    inputs, options, grad_output = problem
    planted = plant(*BACKWARD_FAULTS[fault])
    _, cache = planted["attention_forward"](**inputs, **options)
    slope = taylor_slope(
        lambda **moved: attention_forward(**moved, **options)[0], inputs,
        planted["attention_backward"](grad_output, cache)._asdict(), grad_output,
        np.random.default_rng(1),
    )
    assert slope < 1.2, slope


@pytest.mark.parametrize("fault", ["sign of j - i", "clip at k - 1", "scale on one term"])
def test_a_forward_fault_trips_the_recorded_voice(fault):
    layer = load_voice().layers[0]
    cache = recompute(layer)
    planted = plant(*FORWARD_FAULTS[fault])["attention_forward"]
    inputs = {name: getattr(cache, name) for name in random_inputs(np.random.default_rng(0))}
    weights = planted(**inputs)[1].weights
    assert np.abs(cache.weights - layer.weights).max() < VOICE_WEIGHTS_TOLERANCE
    assert np.abs(weights - layer.weights).max() > MARGIN * VOICE_WEIGHTS_TOLERANCE


def test_a_fault_in_the_matmul_form_trips_the_double_loop(problem):
    inputs, options, _ = problem
    planted = plant(
        "attention_matmul", "left.transpose(2, 0, 1, 3).reshape",
        "left.transpose(2, 1, 0, 3).reshape",
    )
    output, _ = planted["attention_forward_matmul"](**inputs, **options)
    naive_output = naive_heads(inputs, options["mask"], options["query_start"])[2]
    assert np.abs(output - naive_output).max() > MARGIN * NAIVE_TOLERANCE


@pytest.mark.parametrize(("room", "right", "wrong"), [
    ("heads", "return heads.transpose(0, 2, 1, 3).reshape(batch", "return heads.reshape(batch"),
    ("multihead", "+ grad_key @ cache.key_weight.T", ""),
    ("multihead", '("bim,bio->mo", cache.merged, grad_output)',
     '("bim,bio->mo", cache.merged, -grad_output)'),
])
def test_a_fault_in_the_layer_trips_the_complex_step(room, right, wrong):
    rng = np.random.default_rng(2)
    inputs = {
        "x": rng.normal(size=(2, 5, 4)), "query_weight": rng.normal(size=(4, 6)),
        "key_weight": rng.normal(size=(4, 6)), "value_weight": rng.normal(size=(4, 6)),
        "output_weight": rng.normal(size=(6, 3)), "relative_key_table": rng.normal(size=(3, 3)),
    }
    planted = plant(room, right, wrong)
    output, cache = planted["multihead_forward"](**inputs, num_heads=2)
    grad_output = rng.normal(size=output.shape)
    grads = planted["multihead_backward"](grad_output, cache)._asdict()
    del grads["relative_value_table"]
    report = check_gradients(
        lambda **moved: multihead_forward(**moved, num_heads=2)[0], inputs, grads, grad_output
    )
    assert max(entry.error for entry in report.errors) > MARGIN * COMPLEX_STEP_TOLERANCE
