"""Tiled: block boundaries, trimmed tables, threads, memory, and the parts on their own."""

import sys
import threading
import time
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from inputs import random_inputs, random_mask
from test_fast_rungs import assert_like_einsum

from relpos_np import attention_forward, fast
from relpos_np.fast import exponential, plan, threads
from relpos_np.fast.bands import collect, make_distances, spread, views_of
from relpos_np.fast.tiles import make_tiles
from relpos_np.fast.visible import visible_keys

TILED = fast.tiled_forward, fast.tiled_backward
BLOCK = plan.QUERIES_PER_TILE


@pytest.fixture
def small_tiles(monkeypatch):
    """Blocks of 8 queries, so that small inputs have many."""
    monkeypatch.setattr(plan, "QUERIES_PER_TILE", 8)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50])
@pytest.mark.parametrize("length", [7, 8, 9, 15, 16, 17, 31, 32, 33])
def test_block_boundaries_and_tables_up_to_wider_than_the_sequence(small_tiles, length, k):
    rng = np.random.default_rng([length, k])
    inputs = random_inputs(rng, query_len=length, k=k, per_head=bool(k % 2))
    assert_like_einsum(TILED, inputs)
    assert_like_einsum(TILED, inputs, mask=np.tri(length, dtype=bool))


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 1, 300])
@pytest.mark.parametrize("k", [3, BLOCK, 299, 400])
def test_the_block_size_in_use(length, k):
    rng = np.random.default_rng([length, k])
    inputs = random_inputs(rng, batch=1, num_heads=2, query_len=length, k=k)
    assert_like_einsum(TILED, inputs)


@pytest.mark.parametrize("seed", range(40))
def test_random_sizes_positions_and_masks(small_tiles, seed):
    rng = np.random.default_rng(seed)
    query_len, key_len = rng.integers(1, 60, size=2)
    inputs = random_inputs(
        rng, query_len=query_len, key_len=key_len, k=int(rng.integers(0, 70)),
        per_head=bool(seed % 2),
    )
    masks = [
        None,
        random_mask(rng, query_len=query_len, key_len=key_len),
        rng.random((2, 1, 1, key_len)) < 0.7,
        np.arange(key_len) < rng.integers(0, key_len + 1, size=(3, query_len, 1)),
    ]
    query_start = int(rng.integers(-70, 70))
    assert_like_einsum(TILED, inputs, query_start=query_start, mask=masks[seed % 4])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e-3, 1.0, 3.0, 30.0])
def test_logits_of_every_size_with_and_without_a_maximum(small_tiles, dtype, size):
    rng = np.random.default_rng(1)
    inputs = random_inputs(rng, query_len=40, k=5, dtype=dtype)
    inputs["query"] *= dtype(size)
    assert_like_einsum(TILED, inputs, unit=max(size, 1))
    mask = random_mask(rng, query_len=40, key_len=40)
    assert_like_einsum(TILED, inputs, unit=max(size, 1), mask=mask)


def test_a_hidden_pair_with_the_largest_logit_does_not_overflow(small_tiles):
    inputs = random_inputs(np.random.default_rng(2), query_len=20, dtype=np.float32)
    inputs["key"][:, :, 15:] *= 1e4
    mask = np.arange(20) < 15
    assert_like_einsum(TILED, inputs, unit=1e4, mask=mask)


@pytest.mark.parametrize("size", [3.0, 10.0, 100.0])
def test_half_precision_is_computed_in_single(small_tiles, size):
    """Exponentials, their sums and the sums of values: all would end at 65504."""
    inputs = random_inputs(np.random.default_rng(16), query_len=300, k=5, dtype=np.float16)
    inputs["query"] *= np.float16(size)
    assert_like_einsum(TILED, inputs, unit=size)
    inputs["value"] += np.float16(300)
    output, _ = fast.tiled_forward(**inputs)
    exact, _ = attention_forward(**{name: x.astype(np.float64) for name, x in inputs.items()})
    np.testing.assert_allclose(output, exact, rtol=2**-10)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("row", [3, 4])
def test_a_row_of_the_key_table_that_no_query_may_see_does_not_spread(small_tiles, row, wrong):
    inputs = random_inputs(np.random.default_rng(13), query_len=30, k=2)
    causal = np.tri(30, dtype=bool)
    expected, _ = fast.tiled_forward(**inputs, mask=causal)
    inputs["relative_key_table"][row] = wrong
    with np.errstate(invalid="ignore"):  # infinity minus infinity, at hidden pairs
        output, _ = fast.tiled_forward(**inputs, mask=causal)
        seen, _ = fast.tiled_forward(**inputs)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)
    assert np.isnan(seen[:, :, :-2]).all(), "a query that sees the row"


@pytest.mark.parametrize("name", ["relative_key_table", "relative_value_table"])
def test_row_0_of_a_table_reaches_every_query_as_the_docstring_says(small_tiles, name):
    inputs = random_inputs(np.random.default_rng(14), query_len=30, k=40)  # no distance reads it
    inputs[name][0] = np.nan
    output, _ = fast.tiled_forward(**inputs)
    assert np.isnan(output).all()
    assert np.isfinite(attention_forward(**inputs)[0]).all()


def test_a_row_of_the_value_table_reaches_its_block_as_the_docstring_says(small_tiles):
    inputs = random_inputs(np.random.default_rng(15), query_len=30, k=40)
    inputs["relative_value_table"][40 + 29] = np.nan  # the first query and the last key
    for forward, queries in ((fast.tiled_forward, 8), (attention_forward, 1)):
        output, _ = forward(**inputs)
        assert np.isnan(output[:, :, :queries]).all()
        assert np.isfinite(output[:, :, queries:]).all()


@pytest.mark.parametrize("name", ["key", "value"])
def test_keys_after_the_last_seen_one_are_not_read_as_the_docstring_says(small_tiles, name):
    inputs = random_inputs(np.random.default_rng(15), query_len=30)
    padding = np.arange(30) < 25
    expected, _ = fast.tiled_forward(**inputs, mask=padding)
    inputs[name][:, :, 25:] = np.nan
    output, _ = fast.tiled_forward(**inputs, mask=padding)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)
    assert np.isnan(attention_forward(**inputs, mask=padding)[0]).any() == (name == "value")


def test_inputs_in_any_memory_order():
    inputs = random_inputs(np.random.default_rng(3), query_len=140, k=4)
    inputs = {
        name: np.asfortranarray(array) if array.ndim == 2 else
        np.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2)
        for name, array in inputs.items()
    }
    assert_like_einsum(TILED, inputs)


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_the_number_of_threads_changes_no_bit(monkeypatch, number):
    inputs = random_inputs(np.random.default_rng(4), num_heads=5, query_len=20, dtype=np.float32)
    monkeypatch.setattr(plan, "LOGITS_PER_TILE", 1)  # a job per head, however many threads
    results = []
    for asked in (1, number):
        monkeypatch.setattr(threads, "num_threads", lambda asked=asked: asked)
        output, cache = fast.tiled_forward(**inputs)
        results.append((output, *fast.tiled_backward(np.cos(output), cache)))
    for one, several in zip(*results, strict=True):
        np.testing.assert_array_equal(several, one)


def test_threads_share_the_jobs(monkeypatch):
    monkeypatch.setattr(threads, "num_threads", lambda: 3)
    done = []
    threads.run_shares(done.extend, list(range(8)))
    assert sorted(done) == list(range(8))


def test_no_thread_waits_with_jobs_in_its_hands(monkeypatch):
    monkeypatch.setattr(threads, "num_threads", lambda: 2)
    others_done, counts = threading.Event(), Counter()

    def work(share):
        for job in share:
            counts[threading.get_ident()] += 1
            if job == 0:
                assert others_done.wait(timeout=60)
            if job == 7:
                others_done.set()

    threads.run_shares(work, list(range(8)))
    assert sorted(counts.values()) == [1, 7]


@pytest.mark.parametrize("caller_fails", [True, False])
def test_an_error_comes_out_of_every_thread_and_ends_the_work_of_the_caller(
    monkeypatch, caller_fails
):
    monkeypatch.setattr(threads, "num_threads", lambda: 2)
    caller, failed, done = threading.current_thread(), threading.Event(), []

    def work(share):
        if (threading.current_thread() is caller) == caller_fails:
            failed.set()
            raise ArithmeticError("in one thread")
        assert failed.wait(timeout=60)
        for job in share:
            done.append(job)
            time.sleep(0.001)

    with pytest.raises(ArithmeticError, match="in one thread"):
        threads.run_shares(work, list(range(1000)))
    assert len(done) < 1000 if caller_fails else done == list(range(1000))


def test_blas_is_limited_inside_and_restored_after():
    def fail_inside():
        with threads.blas_threads(1):
            assert threads.num_threads() == 1
            raise KeyError

    with threads.blas_threads(2):
        with pytest.raises(KeyError):
            fail_inside()
        assert threads.num_threads() == (2 if threads.blas_functions() else 1)


def test_an_unknown_blas_means_one_share_and_the_same_numbers(monkeypatch):
    monkeypatch.setattr(threads, "blas_functions", lambda: None)
    assert threads.num_threads() == 1
    assert_like_einsum(TILED, random_inputs(np.random.default_rng(5), query_len=30))


@pytest.mark.parametrize("exp2_is_fast", [False, True])
def test_both_exponentials_give_the_same(small_tiles, monkeypatch, exp2_is_fast):
    monkeypatch.setattr(exponential, "EXP2_IS_FAST", exp2_is_fast)
    inputs = random_inputs(np.random.default_rng(6), query_len=30)
    assert_like_einsum(TILED, inputs)
    assert_like_einsum(TILED, inputs, mask=np.tri(30, dtype=bool))


def test_exp2_is_taken_where_it_has_vector_code_and_no_logit_is_large():
    ones = np.ones((1, 3, 4))
    fast_one = np.exp2 if exponential.has_vector_code("exp2") else np.exp
    assert exponential.choose_exponential(ones, ones, ones)[0] is fast_one
    assert exponential.choose_exponential(ones, ones, ones).safe
    for large in (100 * ones, np.nan * ones):
        choice = exponential.choose_exponential(large, ones, ones)
        assert (choice.power, choice.safe) == (np.exp, False)
    assert not exponential.has_vector_code("no such function")


def test_forward_and_backward_may_group_heads_differently(monkeypatch):
    """One head with large logits, computed with others in the forward and alone in the backward."""
    inputs = random_inputs(np.random.default_rng(6), num_heads=4, query_len=20)
    inputs["query"][:, 2] *= 50
    output, cache = fast.tiled_forward(**inputs)
    expected = fast.tiled_backward(np.cos(output), cache)
    monkeypatch.setattr(plan, "LOGITS_PER_TILE", 1)
    for got, want in zip(fast.tiled_backward(np.cos(output), cache), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)


def peak_memory(function, *arguments):
    """Bytes that a call allocates at most beyond what there was, and its result."""
    tracemalloc.start()
    try:
        result = function(*arguments)
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def peaks(length, monkeypatch):
    """Peak bytes, forward and forward and backward, at the paper's sizes, with two threads."""
    monkeypatch.setattr(threads, "num_threads", lambda: 2)
    rng = np.random.default_rng(7)
    inputs = random_inputs(
        rng, batch=1, num_heads=8, query_len=length, head_dim=64, value_dim=64, k=16,
        dtype=np.float32,
    )
    grad_output = rng.normal(size=inputs["query"].shape).astype(np.float32)

    def both():
        output, cache = fast.tiled_forward(**inputs)
        return output, fast.tiled_backward(grad_output, cache)

    forward, _ = peak_memory(lambda: fast.tiled_forward(**inputs))
    return forward, peak_memory(both)[0]


def test_memory_stays_small_and_grows_with_the_length_not_its_square(monkeypatch):
    forward, both = peaks(1024, monkeypatch)
    forward_twice, both_twice = peaks(2048, monkeypatch)
    # One (query_len, key_len) array of the 8 heads has 32 MiB at 1024, 128 MiB at 2048.
    assert forward < 6 * 2**20
    assert both < 15 * 2**20
    assert forward_twice < 2.1 * forward
    assert both_twice < 2.1 * both


def test_the_measure_sees_an_array_of_pairs():
    inputs = random_inputs(np.random.default_rng(8), batch=1, num_heads=2, query_len=256)
    peak, _ = peak_memory(lambda: fast.gather_forward(**inputs))
    assert peak > 2 * 256 * 256 * 8


@pytest.mark.parametrize("k", [1, 2, 3, 20])
@pytest.mark.parametrize(("query_len", "key_len", "query_start"), [
    (9, 9, 0), (9, 9, 3), (4, 9, 5), (9, 4, -2), (5, 5, -20), (5, 5, 20), (3, 30, 13),
])
def test_every_pair_is_free_or_on_its_key_or_between(query_len, key_len, query_start, k):
    for tile in make_tiles(query_len, key_len, query_start, k, block=4):
        for i in range(tile.start, tile.stop):
            for j in range(key_len):
                distance = j - (query_start + i)
                if j < tile.left:
                    assert distance <= -k
                elif j >= tile.right:
                    assert distance >= k
                elif -k < distance <= k:
                    assert tile.near <= distance <= tile.far


@pytest.mark.parametrize("k", [1, 2, 3, 20])
@pytest.mark.parametrize(("query_len", "key_len", "query_start", "stop"), [
    (9, 9, 0, 9), (9, 9, 0, 4), (9, 9, 3, 9), (4, 9, 5, 7), (9, 4, -2, 4), (3, 30, 13, 30),
    (16, 16, 0, 16),
])
def test_spread_and_collect_by_index(query_len, key_len, query_start, stop, k):
    rng = np.random.default_rng([query_len, key_len, k])
    distances = [make_distances(2, 4, 2 * k, float) for _ in range(2)]
    for one in distances:
        one.memory.fill(np.nan)
    for tile in make_tiles(query_len, key_len, query_start, k, block=4):
        rows, n = tile.num_rows, tile.num_queries
        numbers = rng.normal(size=(2, n, rows + stop))
        spread_, collected = numbers.copy(), numbers.copy()
        spread(spread_, tile, stop, distances[0])
        in_left_tail = collect(collected, tile, stop, distances[1], np.ones(4))
        expected, sums, left_sums = numbers.copy(), np.zeros((2, n, rows)), np.zeros((2, n))
        for a in range(n):
            for j in range(tile.left, min(tile.right, stop)):
                distance = min(j - (query_start + tile.start + a), k)
                if distance > -k:
                    expected[:, a, rows + j] += numbers[:, a, distance - tile.near]
                    sums[:, a, distance - tile.near] += numbers[:, a, rows + j]
                else:
                    left_sums[:, a] += numbers[:, a, rows + j]
        np.testing.assert_allclose(spread_, expected, rtol=0, atol=1e-15)
        np.testing.assert_allclose(collected[:, :, :rows], sums, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(collected[:, :, rows:], numbers[:, :, rows:])
        got = 0 if in_left_tail is None else in_left_tail
        np.testing.assert_allclose(np.broadcast_to(got, (2, n)), left_sums, rtol=0, atol=1e-14)


def test_the_view_by_key_writes_into_the_same_memory():
    tile = make_tiles(8, 8, 0, 2, block=4)[1]
    memory = np.zeros(4 * (tile.num_rows + 6))
    views = views_of(memory, 1, tile, stop=8)
    views.by_key[0, 2, 1] = 7.0  # query 6, key 4: distance -2, the left tail nearest to the rows
    assert views.left[0, 2, -1] == 7.0
    assert memory.sum() == 7.0


@pytest.mark.parametrize(("mask", "expected"), [
    (None, (9, 9, 9)),
    (np.ones((1, 9, 9), bool), (9, 9, 9)),
    (np.zeros((1, 9, 9), bool), (0, 0, 0)),
    (np.tri(9, dtype=bool)[None], (7, 4, 7)),
    (np.arange(9)[None, None] < 5, (5, 5, 5)),
    (np.arange(9)[None, None] > 2, (9, 0, 3)),
    (np.ones((1, 1, 1), bool), (9, 9, 9)),
    (np.zeros((1, 1, 1), bool), (0, 0, 0)),
    (np.arange(9)[None, :, None] != 4, (9, 0, 9)),
])
def test_what_a_mask_leaves_of_a_tile(mask, expected):
    tile = make_tiles(9, 9, 0, 2, block=4)[1]._replace(start=3, stop=7)
    assert visible_keys(mask, tile, 9) == expected


def test_a_causal_mask_halves_the_products(monkeypatch):
    """Counted, not timed: numbers that the products of a forward pass make."""
    tokens = sys.modules["relpos_np.fast.virtual_tokens"]
    made = []
    whole = tokens.cut
    monkeypatch.setattr(
        tokens, "cut", lambda scratch, *shape: made.append(np.prod(shape)) or whole(scratch, *shape)
    )
    inputs = random_inputs(np.random.default_rng(9), batch=1, num_heads=1, query_len=1024, k=2)
    fast.tiled_forward(**inputs)
    everything = sum(made)
    made.clear()
    fast.tiled_forward(**inputs, mask=np.tri(1024, dtype=bool))
    assert sum(made) < 0.6 * everything


def test_complex_numbers_are_refused_with_the_rung_that_takes_them():
    inputs = random_inputs(np.random.default_rng(10))
    inputs["query"] = inputs["query"].astype(complex)
    with pytest.raises(TypeError, match="gather_forward takes both"):
        fast.tiled_forward(**inputs)


def test_the_choice_is_by_size():
    small, large = (
        random_inputs(np.random.default_rng(11), batch=1, num_heads=1, query_len=length)
        for length in (128, 129)
    )
    assert type(fast.attention_forward(**small)[1]).__name__ == "ByRowCache"
    assert type(fast.attention_forward(**large)[1]).__name__ == "TiledCache"
    assert_like_einsum((fast.attention_forward, fast.attention_backward), large)


@pytest.mark.parametrize("backward", [fast.gather_backward, fast.tiled_backward])
def test_a_gradient_of_another_shape_is_refused(backward):
    forward = {fast.gather_backward: fast.gather_forward}.get(backward, fast.tiled_forward)
    output, cache = forward(**random_inputs(np.random.default_rng(12)))
    with pytest.raises(ValueError, match="grad_output has shape"):
        backward(output[:, :, 1:], cache)


def test_logits_beyond_every_number_are_not_safe_and_warn_of_nothing_new():
    huge = np.full((1, 3, 4), 1e30, dtype=np.float32)
    assert not exponential.choose_exponential(huge, huge, huge).safe
