"""What the complex step cannot see: values, tasks, text, optimiser, ceiling."""

import itertools
import math

import numpy as np
import pytest

from relpos_np.train import tasks, text
from relpos_np.train.adam import adam_start, adam_step, learning_rate_at
from relpos_np.train.ceiling import order_blind_ceiling
from relpos_np.train.cross_entropy import cross_entropy_forward
from relpos_np.train.embedding import embedding_forward
from relpos_np.train.initial import initial_parameters
from relpos_np.train.layer_norm import layer_norm_forward
from relpos_np.train.model import model_backward, model_forward


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_cross_entropy_is_the_mean_of_minus_log_p_written_out(rng):
    logits, targets = rng.normal(size=(2, 5, 3)), rng.integers(3, size=(2, 5))
    scored = rng.random((2, 5)) < 0.5
    surprises = [
        math.log(sum(math.exp(x) for x in logits[b, i])) - logits[b, i, targets[b, i]]
        for b, i in zip(*np.nonzero(scored), strict=True)
    ]
    loss, _ = cross_entropy_forward(logits, targets, scored)
    np.testing.assert_allclose(loss, sum(surprises) / len(surprises), rtol=1e-14)


def test_cross_entropy_of_huge_logits_does_not_overflow():
    loss, _ = cross_entropy_forward(np.array([[[1e4, 0.0]]]), np.array([[1]]), np.array([[True]]))
    np.testing.assert_allclose(loss, 1e4)


def test_a_loss_over_no_position_is_refused():
    with pytest.raises(ValueError, match="no position is scored"):
        cross_entropy_forward(np.zeros((1, 2, 3)), np.zeros((1, 2), int), np.zeros((1, 2), bool))


def test_layer_norm_gives_mean_zero_and_variance_one(rng):
    output, _ = layer_norm_forward(5 + 3 * rng.normal(size=(2, 7, 6)), np.ones(6), np.zeros(6))
    np.testing.assert_allclose(output.mean(axis=-1), 0, atol=1e-14)
    np.testing.assert_allclose(output.var(axis=-1), 1, atol=1e-4)


@pytest.mark.parametrize("token", [-1, 4])
def test_a_token_outside_the_table_is_refused(token):
    with pytest.raises(IndexError, match=r"embedding of 4 rows"):
        embedding_forward(np.array([[token]]), np.zeros((4, 2)))


def test_adam_equals_the_algorithm_written_for_one_number(rng):
    gradients = rng.normal(size=5)
    weight, mean, square = 0.3, 0.0, 0.0
    parameters = {"w": np.array([0.3, 9.0])}
    state = adam_start(parameters)
    for step, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.98 * square + 0.02 * gradient**2
        correction = mean / (1 - 0.9**step) / (math.sqrt(square / (1 - 0.98**step)) + 1e-9)
        weight -= 0.01 * correction
        grads = {"w": np.array([gradient, 1.0])}
        parameters, state = adam_step(parameters, grads, state, 0.01)
        np.testing.assert_allclose(parameters["w"][0], weight, rtol=1e-13)


def test_adam_changes_nothing_in_place(rng):
    parameters = {"w": rng.normal(size=3)}
    before, state = parameters["w"].copy(), adam_start(parameters)
    adam_step(parameters, {"w": np.ones(3)}, state, 0.1)
    np.testing.assert_array_equal(parameters["w"], before)
    np.testing.assert_array_equal(state.mean["w"], 0)


def test_a_parameter_without_a_gradient_is_refused():
    with pytest.raises(ValueError, match=r"differ in \['b'\]"):
        adam_step({"a": np.ones(1), "b": np.ones(1)}, {"a": np.ones(1)}, None, 0.1)


def test_the_learning_rate_peaks_at_the_end_of_the_warm_up_and_ends_at_zero():
    rates = [learning_rate_at(s, peak=3.0, warmup_steps=10, total_steps=50) for s in range(1, 51)]
    assert np.argmax(rates) == 9
    assert (rates[9], rates[-1]) == (3.0, 0.0)
    assert np.all(np.diff(rates[:10]) > 0)
    assert np.all(np.diff(rates[10:]) < 0)


LENGTH = 11


def test_copy_asks_for_the_token_three_places_back(rng):
    tokens, targets, scored = tasks.copy_batch(rng, 5, LENGTH)
    for b, i in itertools.product(range(5), range(LENGTH)):
        assert scored[b, i] == (i >= 3)
        assert i < 3 or targets[b, i] == tokens[b, i - 3]


def test_order_asks_once_and_both_answers_occur(rng):
    tokens, targets, scored = tasks.order_batch(rng, 200, LENGTH)
    for row, target, asked in zip(tokens.tolist(), targets, scored, strict=True):
        assert (row.count(0), row.count(1), asked.sum()) == (1, 1, 1)
        assert asked[row.index(0)]
        assert target[row.index(0)] == (row.index(0) < row.index(1))
    assert 60 < targets.sum() < 140


def test_induction_asks_only_what_the_sequence_has_told(rng):
    tokens, targets, scored = tasks.induction_batch(rng, 50, LENGTH)
    assert scored.any()
    np.testing.assert_array_equal(targets[:, :-1], tokens[:, 1:])
    for row, target, asked in zip(tokens.tolist(), targets, scored, strict=True):
        for i in range(LENGTH):
            earlier = [row[j + 1] for j in range(i) if row[j] == row[i]]
            assert asked[i] == (i % 2 == 0 and bool(earlier))
            if asked[i]:
                assert set(earlier) == {target[i]}


def test_reversal_and_parity_ask_for_what_they_say(rng):
    tokens, targets, scored = tasks.reversal_batch(rng, 5, LENGTH)
    np.testing.assert_array_equal(targets, np.flip(tokens, axis=1))
    assert scored.all()
    np.testing.assert_array_equal(tasks.parity_batch(rng, 3, 4).targets, [[0, 1, 0, 1]] * 3)


def test_hidden_characters_are_a_fifth_and_only_they_are_asked_for(rng):
    tokens, targets, scored = text.masked_batch(rng, 200, 32)
    np.testing.assert_array_equal(tokens == text.MASK, scored)
    np.testing.assert_array_equal(tokens[~scored], targets[~scored])
    np.testing.assert_allclose(scored.mean(), 0.2, atol=0.02)
    assert scored.any(axis=1).all()


def test_next_characters_are_the_next_characters(rng):
    tokens, targets, scored = text.next_batch(rng, 4, LENGTH)
    np.testing.assert_array_equal(targets[:, :-1], tokens[:, 1:])
    np.testing.assert_array_equal(scored, [[True] * (LENGTH - 1) + [False]] * 4)


@pytest.mark.parametrize("test", [False, True])
def test_pieces_lie_within_blocks_of_their_own_part(rng, test):
    blocks = text.held_out_blocks()
    assert [len(part) for part in blocks] == [75, 14]
    own = [text.decode(block) for block in blocks[test]]
    for piece in text.random_pieces(rng, 40, 256, test):
        assert any(text.decode(piece) in block for block in own)


def test_the_order_blind_ceiling_equals_the_exact_mean_over_all_sequences(monkeypatch):
    monkeypatch.setattr("relpos_np.train.ceiling.VOCABULARY", 3)
    exact = np.mean([
        max(map(others.count, range(3))) / 4 for others in itertools.product(range(3), repeat=4)
    ])
    estimate = order_blind_ceiling(np.random.default_rng(0), length=5, samples=40000)
    np.testing.assert_allclose(estimate, exact, atol=0.005)


def small_model(rng, **parts):
    return initial_parameters(rng, vocabulary=16, classes=5, model_dim=8, **parts)


def both_tables(k):
    return {"relative_key_table": (2 * k + 1, 4), "relative_value_table": (2 * k + 1, 4)}


def test_without_positions_shuffling_the_tokens_shuffles_the_logits(rng):
    tokens, order = rng.integers(16, size=(2, 7)), rng.permutation(7)
    for parts, same in ((dict(), True), (dict(tables=both_tables(0)), True),
                        (dict(tables=both_tables(1)), False)):
        parameters = small_model(rng, dtype=np.float64, **parts)
        logits, _ = model_forward(parameters, tokens, num_heads=2)
        shuffled, _ = model_forward(parameters, tokens[:, order], num_heads=2)
        difference = np.abs(shuffled - logits[:, order]).max()
        assert difference < 1e-13 if same else difference > 1e-3


def test_a_causal_mask_alone_already_tells_positions_apart(rng):
    parameters = small_model(rng, num_layers=1, dtype=np.float64)
    tokens, mask = np.array([[1, 2, 2, 2, 2]]), np.tri(5, dtype=bool)
    causal, _ = model_forward(parameters, tokens, num_heads=2, mask=mask)
    bidirectional, _ = model_forward(parameters, tokens, num_heads=2)
    np.testing.assert_allclose(bidirectional[0, 1:], bidirectional[0, 1:2].repeat(4, 0), atol=1e-13)
    assert np.abs(np.diff(causal[0, 1:], axis=0)).max(axis=1).min() > 1e-4


def test_one_row_for_every_distance_teaches_the_key_table_nothing(rng):
    parameters = small_model(rng, tables=both_tables(0), dtype=np.float64)
    logits, cache = model_forward(parameters, rng.integers(16, size=(2, 7)), num_heads=2)
    grads = model_backward(rng.normal(size=logits.shape), cache)
    np.testing.assert_allclose(grads["layer0.relative_key_table"], 0, atol=1e-14)
    assert np.abs(grads["layer0.relative_value_table"]).min() > 1e-3


@pytest.mark.parametrize("parts", [
    dict(tables=both_tables(2), inner_dim=6, num_layers=2), dict(learned=True)
])
def test_float32_stays_float32_through_forward_and_backward(rng, parts):
    parameters = small_model(rng, **parts)
    tokens = rng.integers(16, size=(2, 7))
    logits, cache = model_forward(parameters, tokens, num_heads=2, sinusoidal=True)
    grads = model_backward(logits, cache)
    stepped, _ = adam_step(parameters, grads, adam_start(parameters), 0.01)
    assert {array.dtype for array in (logits, *grads.values(), *stepped.values())} == {
        np.dtype(np.float32)
    }
