"""Every layer of the training room, and the whole model, against the complex step.

The last tests plant faults and want them seen.
"""

import numpy as np
import pytest

from relpos_np.attention import attention_forward
from relpos_np.attention_backward import attention_backward
from relpos_np.gradcheck import check_gradients
from relpos_np.train.attentions import attention_pair
from relpos_np.train.cross_entropy import cross_entropy_backward, cross_entropy_forward
from relpos_np.train.embedding import embedding_backward, embedding_forward
from relpos_np.train.feed_forward import feed_forward_backward, feed_forward_forward
from relpos_np.train.initial import initial_parameters
from relpos_np.train.layer_norm import layer_norm_backward, layer_norm_forward
from relpos_np.train.model import model_backward, model_forward


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_embedding_gradient_sums_over_repeated_tokens(rng):
    tokens = rng.integers(5, size=(2, 7))
    inputs, grad_output = {"table": rng.normal(size=(5, 3))}, rng.normal(size=(2, 7, 3))
    _, cache = embedding_forward(tokens, **inputs)
    grads = {"table": embedding_backward(grad_output, cache)}
    check_gradients(
        lambda table: embedding_forward(tokens, table)[0], inputs, grads, grad_output
    ).assert_ok()


def layer_norm_case(rng):
    inputs = {name: rng.normal(size=3) for name in ("scale", "shift")}
    return layer_norm_forward, layer_norm_backward, {"x": rng.normal(size=(2, 5, 3)), **inputs}


def feed_forward_case(rng):
    return feed_forward_forward, feed_forward_backward, {
        "x": rng.normal(size=(2, 5, 3)),
        "inner_weight": rng.normal(size=(3, 7)), "inner_bias": rng.normal(size=7),
        "outer_weight": rng.normal(size=(7, 4)), "outer_bias": rng.normal(size=4),
    }


@pytest.mark.parametrize("case", [layer_norm_case, feed_forward_case])
def test_layer_gradients_match_the_complex_step(rng, case):
    forward, backward, inputs = case(rng)
    output, cache = forward(**inputs)
    grad_output = rng.normal(size=output.shape)
    grads = backward(grad_output, cache)._asdict()
    check_gradients(lambda **moved: forward(**moved)[0], inputs, grads, grad_output).assert_ok()


def test_cross_entropy_gradient_matches_the_complex_step(rng):
    inputs = {"logits": 3 * rng.normal(size=(2, 5, 4))}
    targets, scored = rng.integers(4, size=(2, 5)), rng.random((2, 5)) < 0.6
    _, cache = cross_entropy_forward(inputs["logits"], targets, scored)
    grads = {"logits": cross_entropy_backward(cache, grad_loss=1.7)}
    check_gradients(
        lambda logits: cross_entropy_forward(logits, targets, scored)[0], inputs, grads, 1.7
    ).assert_ok()


KEY, VALUE = {"relative_key_table": (5, 3)}, {"relative_value_table": (5, 3)}
MODELS = {
    "shaw": dict(tables=KEY | VALUE),
    "key table only": dict(tables=KEY),
    "value table only": dict(tables=VALUE),
    "learned": dict(learned=True),
    "everything": dict(tables=KEY | VALUE, num_layers=2, inner_dim=5, learned=True),
}
OTHER_TABLES = {
    "t5": {"relative_key_table": (4, 2)},
    "alibi": {},
    "rope": {},
    "transformer_xl": {"relative_key_table": (2, 8, 4), "relative_value_table": (2, 2, 4)},
}


def whole_model(rng, *, causal, model_dim=6, encoding=None, **parts):
    """Parameters, loss function and gradients of a small model on random tokens."""
    parameters = initial_parameters(
        rng, vocabulary=5, classes=3, model_dim=model_dim, dtype=np.float64, **parts
    )
    # Not at their start of ones and zeros, which hide mistakes.
    parameters = {name: array + 0.3 * rng.normal(size=array.shape)
                  for name, array in parameters.items()}
    if "position_table" in parameters:
        parameters["position_table"] = parameters["position_table"][:8]
    tokens, targets = rng.integers(5, size=(2, 7)), rng.integers(3, size=(2, 7))
    scored = rng.random((2, 7)) < 0.7
    core = attention_forward, attention_backward
    attend, attend_backward = attention_pair(encoding) if encoding else core
    options = dict(num_heads=2, sinusoidal=causal, mask=np.tri(7, dtype=bool) if causal else None)

    def loss(**parameters):
        logits, _ = model_forward(parameters, tokens, **options, attention=attend)
        return cross_entropy_forward(logits, targets, scored)[0]

    logits, cache = model_forward(parameters, tokens, **options, attention=attend)
    _, loss_cache = cross_entropy_forward(logits, targets, scored)
    grad_logits = cross_entropy_backward(loss_cache)
    return parameters, loss, model_backward(grad_logits, cache, attention=attend_backward)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("parts", MODELS.values(), ids=MODELS.keys())
def test_whole_model_gradient_matches_the_complex_step(rng, parts, causal):
    parameters, loss, grads = whole_model(rng, causal=causal, **parts)
    assert grads.keys() == parameters.keys()
    check_gradients(loss, parameters, grads, 1.0, tolerance=1e-12).assert_ok()



@pytest.mark.parametrize(("encoding", "tables"), OTHER_TABLES.items(), ids=OTHER_TABLES.keys())
def test_every_encoding_trains_by_its_right_gradient(rng, encoding, tables):
    parameters, loss, grads = whole_model(
        rng, causal=False, model_dim=8,
        encoding=encoding, tables=tables,
    )
    assert grads.keys() == parameters.keys()
    check_gradients(loss, parameters, grads, 1.0, tolerance=1e-12).assert_ok()


def test_the_fast_attention_of_the_loop_has_the_right_gradient(rng):
    parameters, loss, grads = whole_model(
        rng, causal=True, encoding="shaw", **MODELS["everything"]
    )
    check_gradients(loss, parameters, grads, 1.0, tolerance=1e-12).assert_ok()


FAULTS = {
    "one layer's residual path is lost":
        lambda grads: grads | {"token_table": 0.5 * grads["token_table"]},
    "a token that occurs twice counts once":
        lambda grads: grads | {"token_table": np.sign(grads["token_table"])},
    "key and value tables swapped": lambda grads: grads | {
        "layer0.relative_key_table": grads["layer0.relative_value_table"],
        "layer0.relative_value_table": grads["layer0.relative_key_table"],
    },
    "layers in the wrong order": lambda grads: grads | {
        "layer0.inner_weight": grads["layer1.inner_weight"],
        "layer1.inner_weight": grads["layer0.inner_weight"],
    },
    "mean over all positions, not over those that count":
        lambda grads: {name: grad * 0.7 for name, grad in grads.items()},
    "shift of a norm forgotten":
        lambda grads: grads | {"final_norm.shift": 0 * grads["final_norm.shift"]},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_in_the_model_gradient_is_seen(rng, fault):
    parameters, loss, grads = whole_model(rng, causal=True, **MODELS["everything"])
    wrong = fault(grads)
    changed = {name: wrong[name] for name in wrong if np.any(wrong[name] != grads[name])}
    assert changed
    report = check_gradients(loss, parameters, changed, 1.0, tolerance=1e-12)
    assert all(entry.error > 1e-9 for entry in report.errors), str(report)


def test_a_layer_norm_backward_without_its_mean_is_seen(rng):
    forward, _, inputs = layer_norm_case(rng)
    output, cache = forward(**inputs)
    grad_output = rng.normal(size=output.shape)
    without_mean = grad_output * inputs["scale"] / cache.deviation
    report = check_gradients(
        lambda **moved: forward(**moved)[0], inputs, {"x": without_mean}, grad_output
    )
    assert report.errors[0].error > 1e-10
