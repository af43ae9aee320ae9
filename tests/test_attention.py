"""The einsum form and the matmul form against the double loop, over everything that varies."""

import itertools
import tracemalloc

import numpy as np
import pytest
from inputs import NAMES, random_inputs, random_mask

from relpos_np import (
    AttentionCache,
    attention_forward,
    attention_forward_matmul,
    naive_attention,
    naive_attention_backward,
)
from relpos_np.attention_backward import attention_backward

FORMS = [attention_forward, attention_forward_matmul]
TOLERANCE = 1e-12


def naive_heads(inputs, mask, query_start):
    """Every head and batch entry through the double loop: scores, weights, output."""
    query, key = inputs["query"], inputs["key"]
    value, key_table = inputs["value"], inputs["relative_key_table"]
    value_table = inputs["relative_value_table"]
    pairs = (*query.shape[:3], key.shape[2])
    stages = [np.zeros(pairs), np.zeros(pairs), np.zeros((*query.shape[:3], value.shape[3]))]
    for b, h in np.ndindex(query.shape[:2]):
        result = naive_attention(
            query[b, h], key[b, h], value[b, h], of_head(key_table, h), of_head(value_table, h),
            None if mask is None else np.broadcast_to(mask, pairs)[b, h], query_start or 0,
        )
        for array, rows in zip(stages, result, strict=True):
            array[b, h] = np.reshape(rows, array[b, h].shape)
    return stages


def of_head(table, head):
    return table if table is None or table.ndim == 2 else table[head]


def assert_equals_double_loop(form, inputs, mask=None, query_start=None):
    output, cache = form(**inputs, mask=mask, query_start=query_start)
    scores, weights, naive_output = naive_heads(inputs, mask, query_start)
    np.testing.assert_allclose(cache.scores, scores, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(cache.weights, weights, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(output, naive_output, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(12))
def test_random_sizes_masks_and_tables_equal_the_double_loop(form, seed):
    rng = np.random.default_rng(seed)
    batch, num_heads, query_len, key_len = rng.integers(1, [3, 4, 9, 12])
    sizes = {"batch": batch, "num_heads": num_heads, "query_len": query_len, "key_len": key_len}
    inputs = random_inputs(
        rng, **sizes, head_dim=rng.integers(1, 8), value_dim=rng.integers(1, 8),
        k=rng.integers(0, 12), per_head=bool(seed % 2),
    )
    mask = random_mask(rng, **sizes) if seed % 3 else None
    assert_equals_double_loop(form, inputs, mask, query_start=int(rng.integers(0, 6)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("sizes", "query_start"), [
    ({"k": 0}, None),
    ({"k": 30}, None),
    ({"query_len": 1}, None),
    ({"query_len": 3, "key_len": 9}, 6),
    ({"query_len": 3, "key_len": 9}, 0),
    ({"query_len": 3, "key_len": 9}, 20),  # every key in the clipped past
    ({"head_dim": 1, "value_dim": 1}, None),
    ({"query_len": 0}, None),  # nothing asks
    ({"query_len": 0, "key_len": 4}, 4),
    ({"query_len": 4, "key_len": 0}, 0),  # nothing to attend to: output 0
    ({"batch": 0}, None),
    ({"num_heads": 1, "batch": 1}, None),
])
@pytest.mark.parametrize("per_head", [False, True])
def test_the_edges_of_every_size_equal_the_double_loop(form, sizes, query_start, per_head):
    inputs = random_inputs(np.random.default_rng(3), **sizes, per_head=per_head)
    assert_equals_double_loop(form, inputs, query_start=query_start)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "shape", [(7, 7), (1, 7), (7, 1), (2, 1, 1, 7), (1, 3, 1, 1), (2, 3, 7, 7)]
)
def test_a_mask_of_any_broadcast_shape_equals_the_double_loop(form, shape):
    rng = np.random.default_rng(4)
    mask = rng.random(shape) < 0.6
    assert_equals_double_loop(form, random_inputs(rng), mask)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [
    ("relative_key_table",), ("relative_value_table",),
    ("relative_key_table", "relative_value_table"),
])
def test_a_table_left_out_leaves_out_its_term(form, missing):
    inputs = random_inputs(np.random.default_rng(5)) | dict.fromkeys(missing)
    assert_equals_double_loop(form, inputs)
    output, cache = form(**inputs)
    grads = attention_backward(np.ones_like(output), cache)
    assert [name for name, grad in grads._asdict().items() if grad is None] == list(missing)


def test_one_table_may_be_per_head_and_the_other_shared():
    rng = np.random.default_rng(6)
    inputs = random_inputs(rng)
    inputs["relative_key_table"] = rng.normal(size=(3, 5, 6))
    for form in FORMS:
        assert_equals_double_loop(form, inputs)


def test_the_double_loop_backward_equals_the_einsum_backward():
    rng = np.random.default_rng(7)
    inputs, mask = random_inputs(rng, query_len=4, key_len=7), random_mask(rng, query_len=4)
    output, cache = attention_forward(**inputs, mask=mask, query_start=3)
    grad_output = rng.normal(size=output.shape)
    grads = attention_backward(grad_output, cache)
    totals = [np.zeros_like(array) for array in inputs.values()]
    for b, h in np.ndindex(output.shape[:2]):
        of_this_head = naive_attention_backward(
            grad_output[b, h], *(inputs[name][b, h] for name in ("query", "key", "value")),
            inputs["relative_key_table"], inputs["relative_value_table"], mask[b, h], 3,
        )
        for total, rows in zip(totals, of_this_head, strict=True):
            (total[b, h] if total.ndim == 4 else total)[...] += np.array(rows)
    for total, grad in zip(totals, grads, strict=True):
        np.testing.assert_allclose(grad, total, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("per_head", [False, True])
def test_precision_in_is_precision_out_at_every_stage(form, dtype, per_head):
    rng = np.random.default_rng(8)
    inputs = random_inputs(rng, dtype=dtype, per_head=per_head)
    output, cache = form(**inputs, mask=random_mask(rng))
    for name, stage in cache._asdict().items():
        if name not in ("mask", "relative_position", "clipped_position", "index"):
            assert stage.dtype == dtype, f"{name} is {stage.dtype}"
    for name, grad in attention_backward(output, cache)._asdict().items():
        assert grad.dtype == dtype, f"gradient of {name} is {grad.dtype}"


@pytest.mark.parametrize("form", FORMS)
def test_a_fully_masked_row_gives_zero_weights_output_and_gradients(form):
    rng = np.random.default_rng(9)
    mask = np.ones((7, 7), bool)
    mask[3] = False
    output, cache = form(**random_inputs(rng), mask=mask)
    np.testing.assert_array_equal(cache.weights[:, :, 3], 0)
    np.testing.assert_array_equal(output[:, :, 3], 0)
    grads = attention_backward(rng.normal(size=output.shape), cache)
    np.testing.assert_array_equal(grads.query[:, :, 3], 0)


@pytest.mark.parametrize("form", FORMS)
def test_arguments_are_never_written_into(form):
    rng = np.random.default_rng(10)
    inputs, mask = random_inputs(rng), random_mask(rng)
    for array in (*inputs.values(), mask):
        array.setflags(write=False)
    output, cache = form(**inputs, mask=mask)
    output.setflags(write=False)
    attention_backward(output, cache)


def test_strided_inputs_give_the_numbers_of_contiguous_ones():
    inputs = random_inputs(np.random.default_rng(11))
    strided = {name: np.asfortranarray(array) for name, array in inputs.items()}
    for form in FORMS:
        np.testing.assert_allclose(form(**strided)[0], form(**inputs)[0], rtol=0, atol=1e-14)


def test_cached_decoding_in_any_chunks_equals_the_full_causal_pass():
    length = 7
    inputs = random_inputs(np.random.default_rng(12), query_len=length)
    causal = np.tril(np.ones((length, length), bool))
    full, _ = attention_forward(**inputs, mask=causal)
    for chunks in ([1] * 7, [4, 1, 1, 1], [3, 4], [7]):
        ends = list(itertools.accumulate(chunks))
        for start, end in itertools.pairwise([0, *ends]):
            output, _ = attention_forward(
                inputs["query"][:, :, start:end], inputs["key"][:, :, :end],
                inputs["value"][:, :, :end], inputs["relative_key_table"],
                inputs["relative_value_table"], mask=causal[start:end, :end], query_start=start,
            )
            np.testing.assert_allclose(output, full[:, :, start:end], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_an_imaginary_part_passes_through_every_stage(form, name):
    rng = np.random.default_rng(14)
    inputs = random_inputs(rng)
    inputs[name] = inputs[name] + 1e-100j  # warnings are errors here, ComplexWarning too
    output, cache = form(**inputs, mask=random_mask(rng))
    assert np.iscomplexobj(output)
    assert np.abs(cache.output.imag).max() > 0


def test_the_cache_lists_the_stages_in_the_order_of_the_recipe():
    names = AttentionCache._fields
    recipe = [
        "relative_position", "clipped_position", "index", "relative_key", "content_logits",
        "relative_logits", "scores", "weights", "content_output", "relative_output", "output",
    ]
    assert sorted(recipe, key=names.index) == recipe


def peak_bytes(function):
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_equation_5_never_holds_an_array_of_batch_by_heads_by_pairs_by_head_dim():
    rng = np.random.default_rng(13)
    inputs = random_inputs(rng, batch=4, num_heads=4, query_len=48, head_dim=32, value_dim=32, k=8)
    pairs_of_every_head = 4 * 4 * 48 * 48 * 32 * 8  # bytes of the (b, h, i, j, d) array

    def equation_4_read_literally():
        _, cache = attention_forward(**inputs)
        keys = inputs["key"][:, :, np.newaxis] + cache.relative_key  # k_j + a^K_ij for all pairs
        return np.einsum("bhid,bhijd->bhij", inputs["query"], keys)

    assert peak_bytes(lambda: attention_forward_matmul(**inputs)) < 0.5 * pairs_of_every_head
    assert peak_bytes(lambda: attention_forward(**inputs)) < 0.5 * pairs_of_every_head
    assert peak_bytes(equation_4_read_literally) > pairs_of_every_head  # the measure can fail
