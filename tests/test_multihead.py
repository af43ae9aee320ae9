import numpy as np
import pytest

from relpos_np import attention_forward, check_gradients, multihead_backward, multihead_forward
from relpos_np.multihead import merge_heads, split_heads

BATCH, LENGTH, MODEL, HEADS, HEAD, VALUE, OUT, K = 2, 7, 11, 3, 6, 5, 8, 2


@pytest.fixture
def inputs():
    rng = np.random.default_rng(0)
    shapes = {
        "x": (BATCH, LENGTH, MODEL),
        "query_weight": (MODEL, HEADS * HEAD), "key_weight": (MODEL, HEADS * HEAD),
        "value_weight": (MODEL, HEADS * VALUE), "output_weight": (HEADS * VALUE, OUT),
        "relative_key_table": (2 * K + 1, HEAD), "relative_value_table": (HEADS, 2 * K + 1, VALUE),
    }
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def test_each_head_reads_its_own_columns_and_writes_its_own(inputs):
    output, _ = multihead_forward(**inputs, num_heads=HEADS)
    by_head = np.zeros((BATCH, LENGTH, HEADS * VALUE))
    for head in range(HEADS):
        columns = slice(head * HEAD, (head + 1) * HEAD)
        value_columns = slice(head * VALUE, (head + 1) * VALUE)
        query = inputs["x"] @ inputs["query_weight"][:, columns]
        key = inputs["x"] @ inputs["key_weight"][:, columns]
        value = inputs["x"] @ inputs["value_weight"][:, value_columns]
        attended, _ = attention_forward(
            query[:, np.newaxis], key[:, np.newaxis], value[:, np.newaxis],
            inputs["relative_key_table"], inputs["relative_value_table"][head],
        )
        by_head[..., value_columns] = attended[:, 0]
    np.testing.assert_allclose(output, by_head @ inputs["output_weight"], rtol=0, atol=1e-12)


def test_splitting_and_merging_heads_undo_each_other():
    x = np.random.default_rng(1).normal(size=(2, 7, 12))
    np.testing.assert_array_equal(merge_heads(split_heads(x, 3)), x)


@pytest.mark.parametrize("masked", [False, True])
def test_every_gradient_of_the_layer_equals_the_complex_step(inputs, masked):
    rng = np.random.default_rng(2)
    options = {"num_heads": HEADS, "mask": np.tril(np.ones((LENGTH, LENGTH), bool))}
    if not masked:
        del options["mask"]
    output, cache = multihead_forward(**inputs, **options)
    grad_output = rng.normal(size=output.shape)
    grads = multihead_backward(grad_output, cache)
    check_gradients(
        lambda **moved: multihead_forward(**moved, **options)[0],
        inputs, grads._asdict(), grad_output,
    ).assert_ok()


def test_float32_stays_float32_through_the_layer(inputs):
    single = {name: array.astype(np.float32) for name, array in inputs.items()}
    output, cache = multihead_forward(**single, num_heads=HEADS)
    assert output.dtype == np.float32
    for name, grad in multihead_backward(output, cache)._asdict().items():
        assert grad.dtype == np.float32, name


@pytest.mark.parametrize(("change", "message"), [
    ({"query_weight": np.ones((HEADS * HEAD, MODEL))}, r"18 rows, x has model_dim 11.*\.T"),
    ({"query_weight": np.ones((MODEL, 17))}, "17 columns, which 3 heads cannot share evenly"),
    ({"output_weight": np.ones((14, OUT))}, "output_weight has 14 rows, value_weight has 15"),
    ({"x": np.ones((LENGTH, MODEL))}, r"x has shape \(7, 11\)"),
    ({"key_weight": np.ones((MODEL, HEADS * 4))}, "key has head_dim 4, query has 6"),
    ({"num_heads": 0}, "num_heads must be at least 1, got 0"),
])
def test_projections_that_do_not_chain_are_refused_with_their_sizes(inputs, change, message):
    with pytest.raises(ValueError, match=message):
        multihead_forward(**{**inputs, "num_heads": HEADS, **change})
