"""The double loop works on any number type and agrees with sums done by hand."""

import cmath
import math
from decimal import Decimal

import numpy as np

from relpos_np import naive_attention, naive_attention_backward

QUERY, KEY, VALUE = [[1.0, 2.0], [0.5, -1.0]], [[2.0, 0.0], [1.0, 1.0]], [[10.0], [20.0]]
KEY_TABLE = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
VALUE_TABLE = [[-1.0], [0.0], [1.0]]


def by_hand():
    """Both outputs with every row of the table written out: row 1 at distance 0."""
    root = math.sqrt(2)
    e00, e01 = (1 * 2 + 2 * (0 + 1)) / root, (1 * (1 + 0.5) + 2 * (1 + 0.5)) / root
    e10, e11 = (0.5 * (2 + 1) - 1 * 0) / root, (0.5 * 1 - 1 * (1 + 1)) / root
    a00 = math.exp(e00) / (math.exp(e00) + math.exp(e01))
    a10 = math.exp(e10) / (math.exp(e10) + math.exp(e11))
    return [a00 * 10 + (1 - a00) * 21, a10 * 9 + (1 - a10) * 20]


def test_two_positions_by_hand():
    output = naive_attention(QUERY, KEY, VALUE, KEY_TABLE, VALUE_TABLE).output
    np.testing.assert_allclose(np.ravel(output), by_hand(), rtol=1e-15)


def test_decimal_in_gives_decimal_out_with_all_its_digits():
    as_decimal = [
        [[Decimal(number) for number in row] for row in rows]
        for rows in (QUERY, KEY, VALUE, KEY_TABLE, VALUE_TABLE)
    ]
    output = naive_attention(*as_decimal).output
    assert all(isinstance(number, Decimal) for row in output for number in row)
    np.testing.assert_allclose(np.array(output, float).ravel(), by_hand(), rtol=1e-15)
    grads = naive_attention_backward([[Decimal(1)], [Decimal(2)]], *as_decimal)
    floats = naive_attention_backward([[1.0], [2.0]], QUERY, KEY, VALUE, KEY_TABLE, VALUE_TABLE)
    for exact, rounded in zip(grads, floats, strict=True):
        np.testing.assert_allclose(np.array(exact, float), rounded, rtol=1e-13, atol=1e-13)


def test_an_imaginary_step_comes_out_as_the_derivative():
    step = 1e-100
    query = [[1.0 + step * 1j, 2.0], [0.5, -1.0]]
    output = naive_attention(query, KEY, VALUE, KEY_TABLE, VALUE_TABLE).output
    grads = naive_attention_backward([[1.0], [1.0]], QUERY, KEY, VALUE, KEY_TABLE, VALUE_TABLE)
    assert isinstance(output[0][0], complex)
    assert cmath.isclose(sum(row[0] for row in output).imag / step, grads.query[0][0])


def test_a_fully_masked_row_is_zero_in_every_number_type():
    for number in (float, complex, Decimal):
        rows = [[[number(x) for x in row] for row in rows] for rows in (QUERY, KEY, VALUE)]
        stages = naive_attention(*rows, mask=[[True, False], [False, False]])
        assert stages.weights[1] == [0, 0]
        assert stages.output == [[10], [0]]


def test_query_start_moves_the_queries_along_the_keys():
    last = naive_attention(QUERY[1:], KEY, VALUE, KEY_TABLE, VALUE_TABLE, query_start=1).output
    both = naive_attention(QUERY, KEY, VALUE, KEY_TABLE, VALUE_TABLE).output
    assert last == both[1:]
