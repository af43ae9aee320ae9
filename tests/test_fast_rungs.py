"""Every rung of `fast` is the einsum form: outputs and gradients, all shapes, all masks."""

import numpy as np
import pytest
from inputs import NAMES, random_inputs, random_mask

from relpos_np import attention_backward, attention_forward, check_gradients, fast
from relpos_np.fast.skew import skew, unskew
from relpos_np.fast.skew_causal import causal_skew, causal_unskew

# Written with products and sums alone, so the complex step can pass through them.
ANALYTIC = {
    "gather": (fast.gather_forward, fast.gather_backward),
    "skew": (fast.skew_forward, fast.skew_backward),
    "skew_causal": (fast.skew_causal_forward, fast.skew_causal_backward),
    "the choice": (fast.attention_forward, fast.attention_backward),
}
ANY_MASK = {**ANALYTIC, "tiled": (fast.tiled_forward, fast.tiled_backward)}
del ANY_MASK["skew_causal"]
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5, np.float16: 5e-3}


def assert_like_einsum(rung, inputs, unit=1.0, seed=0, **options):
    """Output and all gradients, relative to the largest element where that is above `unit`."""
    forward, backward = rung
    dtype = inputs["query"].dtype.type
    exact = {name: None if x is None else x.astype(np.float64) for name, x in inputs.items()}
    expected, expected_cache = attention_forward(**exact, **options)
    output, cache = forward(**inputs, **options)
    grad_output = np.random.default_rng(seed).normal(size=expected.shape)
    expected_grads = attention_backward(grad_output, expected_cache)
    grads = backward(grad_output.astype(dtype), cache)
    assert grads._fields == expected_grads._fields
    for name, got, want in zip(
        ("output", *grads._fields), (output, *grads), (expected, *expected_grads), strict=True
    ):
        if want is None:
            assert got is None, name
            continue
        assert (got.dtype, got.shape) == (dtype, want.shape), name
        scale = max(np.abs(want).max(initial=0), unit)
        np.testing.assert_allclose(
            got, want, rtol=0, atol=TOLERANCE[dtype] * scale, err_msg=name
        )


def frozen(inputs):
    for array in inputs.values():
        array.flags.writeable = False
    return inputs


@pytest.fixture(params=ANY_MASK)
def rung(request):
    return ANY_MASK[request.param]


@pytest.mark.parametrize("per_head", [False, True], ids=["shared", "per head"])
@pytest.mark.parametrize("k", [0, 1, 2, 6, 7, 20])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 13])
def test_every_length_and_clipping_distance(rung, length, k, per_head):
    rng = np.random.default_rng([length, k, per_head])
    assert_like_einsum(rung, frozen(random_inputs(rng, query_len=length, k=k, per_head=per_head)))


@pytest.mark.parametrize(("query_len", "key_len", "query_start"), [
    (3, 8, 5), (3, 8, 0), (3, 8, 2), (8, 3, 0), (1, 9, 8), (4, 6, -30), (4, 6, 30), (0, 4, 1),
    (4, 0, 1), (5, 5, 3), (5, 5, -2),
])
def test_queries_stand_anywhere_among_the_keys(rung, query_len, key_len, query_start):
    rng = np.random.default_rng([query_len, key_len])
    inputs = random_inputs(rng, query_len=query_len, key_len=key_len)
    mask = random_mask(rng, query_len=query_len, key_len=key_len)
    assert_like_einsum(rung, inputs, query_start=query_start)
    assert_like_einsum(rung, inputs, query_start=query_start, mask=mask)


MASK_SHAPES = [
    (7, 9), (1, 9), (7, 1), (9,), (3, 7, 9), (3, 1, 9), (2, 1, 1, 9), (2, 1, 7, 9), (1, 3, 7, 1),
    (2, 3, 7, 9), (1,), (),
]


@pytest.mark.parametrize("shape", MASK_SHAPES, ids=str)
@pytest.mark.parametrize("density", [0.0, 0.5, 1.0])
def test_a_mask_of_every_shape_that_broadcasts(rung, shape, density):
    rng = np.random.default_rng(len(shape))
    mask = np.asarray(rng.random(shape) < density)
    inputs = random_inputs(rng, query_len=7, key_len=9)
    assert_like_einsum(rung, inputs, query_start=2, mask=mask)


@pytest.mark.parametrize("given", [(), ("relative_key_table",), ("relative_value_table",)])
def test_a_table_left_out_leaves_out_its_term(rung, given):
    inputs = random_inputs(np.random.default_rng(4), per_head=True)
    for name in NAMES[3:]:
        if name not in given:
            inputs[name] = None
    assert_like_einsum(rung, inputs)
    assert_like_einsum(rung, inputs, mask=np.tri(7, dtype=bool))


def test_single_precision_in_gives_single_precision_out(rung):
    inputs = random_inputs(np.random.default_rng(5), query_len=40, k=3, dtype=np.float32)
    assert_like_einsum(rung, inputs)
    assert_like_einsum(rung, inputs, mask=np.tri(40, dtype=bool))


@pytest.mark.parametrize("size", [0.1, 1.0])
def test_half_precision_loses_no_more_than_its_digits(rung, size):
    rng = np.random.default_rng(15)
    inputs = random_inputs(rng, batch=1, num_heads=2, query_len=200, k=16, dtype=np.float16)
    inputs["query"] *= np.float16(size)
    assert_like_einsum(rung, inputs)
    assert_like_einsum(rung, inputs, mask=np.tri(200, dtype=bool))


@pytest.mark.parametrize("swapped", [">f8", "<f8", ">f4", "<f4", ">f2", "<f2"])
def test_another_byte_order_goes_in_and_the_machines_own_comes_out(rung, swapped):
    dtype = np.dtype(swapped)
    inputs = random_inputs(np.random.default_rng(16), query_len=9, dtype=dtype)
    output, cache = rung[0](**inputs)
    expected, expected_cache = rung[0](**{
        name: array.astype(dtype.type) for name, array in inputs.items()
    })
    grads = rung[1](np.cos(output).astype(dtype), cache)
    expected_grads = rung[1](np.cos(output), expected_cache)
    for got, want in zip((output, *grads), (expected, *expected_grads), strict=True):
        assert got.dtype == dtype.type
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", [*ANY_MASK, "skew_causal"])
@pytest.mark.parametrize("per_head", [False, True], ids=["shared", "per head"])
@pytest.mark.parametrize("length", [0, 5, 150])
@pytest.mark.parametrize(("batch", "num_heads"), [(0, 3), (2, 0), (0, 0)])
def test_no_batch_and_no_heads_are_empty_not_an_error(name, batch, num_heads, length, per_head):
    inputs = random_inputs(
        np.random.default_rng(17), batch=batch, num_heads=num_heads, query_len=length,
        per_head=per_head,
    )
    rung = {**ANALYTIC, **ANY_MASK}[name]
    assert_like_einsum(rung, inputs, mask=np.tri(length, dtype=bool))
    assert_like_einsum(rung, inputs, mask=np.tri(length, dtype=bool) & np.ones(
        (batch, num_heads, length, length), dtype=bool))


@pytest.mark.parametrize("name", [*ANY_MASK, "skew_causal"])
@pytest.mark.parametrize(("argument", "wrong"), [
    ("query", lambda query: query[0]), ("key", lambda key: key[0, 0, 0]),
    ("query", lambda query: query.tolist()), ("key", lambda key: None),
    ("value", lambda value: value[:, :, 1:]), ("query", lambda query: query.astype(int)),
    ("relative_key_table", lambda table: table[1:]),
])
def test_what_is_no_input_is_refused_as_by_the_einsum_form(name, argument, wrong):
    forward, _ = {**ANALYTIC, **ANY_MASK}[name]
    inputs = random_inputs(np.random.default_rng(19))
    inputs[argument] = wrong(inputs[argument])
    with pytest.raises((TypeError, ValueError)) as expected:
        attention_forward(**inputs, mask=np.tri(7, dtype=bool))
    with pytest.raises(expected.type) as refused:
        forward(**inputs, mask=np.tri(7, dtype=bool))
    assert str(refused.value) == str(expected.value)


@pytest.mark.parametrize("name", [*ANY_MASK, "skew_causal"])
@pytest.mark.parametrize("query_start", [1.0, 0.0, True, False, "0"])
def test_a_query_start_that_is_no_integer_is_refused_as_by_the_einsum_form(name, query_start):
    forward, _ = {**ANALYTIC, **ANY_MASK}[name]
    inputs = random_inputs(np.random.default_rng(18))
    options = {"mask": np.tri(7, dtype=bool), "query_start": query_start}
    with pytest.raises(TypeError) as expected:
        attention_forward(**inputs, **options)
    with pytest.raises(TypeError) as refused:
        forward(**inputs, **options)
    assert str(refused.value) == str(expected.value)


def test_huge_logits_do_not_overflow(rung):
    inputs = random_inputs(np.random.default_rng(6), query_len=9, scale=1.0)
    inputs["query"] *= 6000.0
    # A gradient of the keys is a sum over queries: 0 here, but for the rounding of numbers of 6000.
    assert_like_einsum(rung, inputs, unit=6000.0)
    assert_like_einsum(rung, inputs, unit=6000.0, mask=np.tri(9, dtype=bool))


def test_nan_stays_visible(rung):
    inputs = random_inputs(np.random.default_rng(7), query_len=9)
    inputs["key"][0, 0, 3] = np.nan
    output, cache = rung[0](**inputs)
    grads = rung[1](np.ones_like(output), cache)
    for array in (output, *grads[:3]):
        assert np.isnan(array[0, 0]).all()
        assert not np.isnan(array[0, 1:]).any()
        assert not np.isnan(array[1]).any()


@pytest.mark.parametrize("seed", range(12))
def test_random_sizes_agree(rung, seed):
    rng = np.random.default_rng(seed)
    query_len, key_len = rng.integers(1, 40, size=2)
    query_start = int(rng.integers(-45, 45))
    inputs = random_inputs(
        rng, batch=1, num_heads=2, query_len=query_len, key_len=key_len, head_dim=3, value_dim=2,
        k=int(rng.integers(0, 45)), per_head=bool(seed % 2),
    )
    mask = random_mask(rng, batch=1, num_heads=2, query_len=query_len, key_len=key_len)
    assert_like_einsum(rung, inputs, query_start=query_start, mask=[None, mask][seed % 3 > 0])


@pytest.mark.parametrize("name", ANALYTIC)
@pytest.mark.parametrize("k", [0, 2, 6])
def test_the_backward_is_the_complex_step_of_the_forward(name, k):
    forward, backward = ANALYTIC[name]
    rng = np.random.default_rng([k, 8])
    inputs = random_inputs(rng, batch=1, num_heads=2, query_len=5, head_dim=3, value_dim=2, k=k)
    mask = np.tri(5, dtype=bool)
    output, cache = forward(**inputs, mask=mask)
    grad_output = rng.normal(size=output.shape)
    check_gradients(
        lambda **perturbed: forward(**perturbed, mask=mask)[0], inputs,
        backward(grad_output, cache)._asdict(), grad_output,
    ).assert_ok()


@pytest.mark.parametrize("per_head", [False, True], ids=["shared", "per head"])
@pytest.mark.parametrize("k", [0, 1, 3, 20])
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_the_causal_skew_is_right_under_a_causal_mask(length, k, per_head):
    rng = np.random.default_rng([length, k])
    inputs = random_inputs(rng, query_len=length, k=k, per_head=per_head)
    causal = np.tri(length, dtype=bool)
    rung = ANALYTIC["skew_causal"]
    assert_like_einsum(rung, inputs, mask=causal)
    padded = causal & random_mask(rng, query_len=length, key_len=length)
    assert_like_einsum(rung, inputs, mask=padded)


@pytest.mark.parametrize(("change", "message"), [
    ({"mask": None}, "garbage above the diagonal"),
    ({"mask": np.tri(7, k=1, dtype=bool)}, "garbage above the diagonal"),
    ({"query_start": 1}, "query_start 1: use skew_forward"),
])
def test_the_causal_skew_refuses_a_query_that_would_see_garbage(change, message):
    inputs = random_inputs(np.random.default_rng(9))
    with pytest.raises(ValueError, match=message):
        fast.skew_causal_forward(**inputs, **{"mask": np.tri(7, dtype=bool), **change})


@pytest.mark.parametrize(("query_len", "key_len"), [(1, 1), (4, 4), (3, 5), (5, 3), (1, 4), (0, 3)])
def test_the_skew_moves_every_number_to_its_pair_by_index(query_len, key_len):
    width = max(query_len, 1) + key_len - 1
    by_distance = np.arange(query_len * width).reshape(query_len, width) + 1
    expected = np.array([
        [by_distance[i, j - i + query_len - 1] for j in range(key_len)] for i in range(query_len)
    ], int).reshape(query_len, key_len)
    np.testing.assert_array_equal(skew(by_distance), expected)
    back = unskew(expected)
    np.testing.assert_array_equal(back[back != 0], expected.reshape(-1))
    np.testing.assert_array_equal(back[back != 0], by_distance[back != 0])


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_the_causal_skew_is_right_to_the_diagonal_and_garbage_beyond(length):
    by_distance = np.arange(length * length).reshape(length, length) + 1
    skewed = causal_skew(by_distance)
    for i in range(length):
        for j in range(length):
            if j <= i:
                assert skewed[i, j] == by_distance[i, j - i + length - 1]
            elif j == i + 1:
                assert skewed[i, j] == 0, "the padding"
            else:
                assert skewed[i, j] == by_distance[i + 1, j - i - 2], "the next query's number"
    np.testing.assert_array_equal(causal_unskew(skewed)[1:], by_distance[1:])
