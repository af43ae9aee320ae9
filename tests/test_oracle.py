"""The 60-digit judge, against arithmetic that does not share its code."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from inputs import random_inputs

from relpos_np import naive_attention_backward
from relpos_np.decimals import CONTEXT, exact, select
from relpos_np.oracle import oracle_attention, oracle_gradients


def test_a_value_term_with_equal_weights_is_the_exact_mean():
    rng = np.random.default_rng(0)
    zeros, value = np.zeros((1, 1, 3, 2)), rng.normal(size=(1, 1, 3, 2))
    table = rng.normal(size=(3, 2))
    output = oracle_attention(zeros, zeros, value, None, table).output
    for i, column in np.ndindex(3, 2):
        total = sum(
            Fraction(value[0, 0, j, column]) + Fraction(table[np.clip(j - i, -1, 1) + 1, column])
            for j in range(3)
        )
        assert output[0, 0, i, column] == float(total / 3)


def test_a_score_is_the_exact_sum_rounded_once():
    rng = np.random.default_rng(1)
    query, key, value = rng.normal(size=(3, 1, 1, 2, 4))  # sqrt(4) is exact
    table = rng.normal(size=(5, 4))
    scores = oracle_attention(query, key, value, table).scores
    for i, j in np.ndindex(2, 2):
        total = sum(
            Fraction(q) * (Fraction(k) + Fraction(a))
            for q, k, a in zip(query[0, 0, i], key[0, 0, j], table[j - i + 2], strict=True)
        )
        assert scores[0, 0, i, j] == float(total / 2)


def test_differences_of_the_loop_equal_the_chain_rule_in_60_digits():
    rng = np.random.default_rng(2)
    inputs = random_inputs(
        rng, batch=1, num_heads=2, query_len=4, head_dim=3, value_dim=2, per_head=True
    )
    grad_output = rng.normal(size=(1, 2, 4, 2))
    differences = oracle_gradients(grad_output, *inputs.values())
    with localcontext(CONTEXT):
        for head in range(2):
            chain_rule = naive_attention_backward(
                exact(grad_output[0, head]),
                *(exact(select(array, 0, head)) for array in inputs.values()),
            )
            for by_difference, by_rule in zip(differences, chain_rule, strict=True):
                rounded = np.array(by_rule, dtype=float)  # from Decimal, rounded once
                np.testing.assert_array_equal(select(by_difference, 0, head), rounded)


def test_the_answer_does_not_depend_on_the_precision_set_outside():
    inputs = random_inputs(np.random.default_rng(3), batch=1, num_heads=1, query_len=3)
    usual = oracle_attention(*inputs.values())
    with localcontext(prec=5):
        careless = oracle_attention(*inputs.values())
        assert Decimal(1) / 3 == Decimal("0.33333")
    np.testing.assert_array_equal(usual.output, careless.output)


def test_nan_goes_through_and_lengths_of_zero_are_empty():
    one = np.ones((1, 1, 1, 1))
    key = np.array([[[[np.nan], [1.0]]]])
    assert np.isnan(oracle_attention(one, key, np.ones((1, 1, 2, 1)), query_start=0).output).all()
    no_keys = np.ones((1, 1, 0, 1))
    output = oracle_attention(one, no_keys, np.ones((1, 1, 0, 5)), query_start=0).output
    np.testing.assert_array_equal(output, np.zeros((1, 1, 1, 5)))
    grads = oracle_gradients(output, one, no_keys, np.ones((1, 1, 0, 5)), query_start=0)
    assert (grads.query.item(), grads.key.shape) == (0, (1, 1, 0, 1))


@pytest.mark.parametrize(("change", "error", "message"), [
    ({"query": np.ones((1, 1, 1, 1), np.float32), "key": np.ones((1, 1, 1, 1), np.float32),
      "value": np.ones((1, 1, 1, 1), np.float32)}, TypeError, "float64 only, got float32"),
    ({"query": np.ones((1, 1, 1, 1), complex)}, TypeError, "float64 only, got complex128"),
    ({"key": np.full((1, 1, 1, 1), 1e31)}, ValueError, r"1e\+31 is beyond 1e\+06"),
    ({"key": np.ones((1, 1, 2, 1)), "value": np.ones((1, 1, 2, 1))}, ValueError, "query_start"),
    ({"relative_key_table": np.ones((2, 1))}, ValueError, "has 2 rows"),
])
def test_what_the_oracle_cannot_answer_exactly_it_refuses(change, error, message):
    inputs = dict.fromkeys(("query", "key", "value"), np.ones((1, 1, 1, 1)))
    with pytest.raises(error, match=message):
        oracle_attention(**{**inputs, **change})
