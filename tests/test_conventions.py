"""Other people's tables: what they read is what the paper's table reads after conversion."""

import numpy as np
import pytest
from inputs import random_inputs

from relpos_np import attention_backward, attention_forward, conventions

LENGTH, HEAD_DIM = 9, 4


@pytest.fixture
def rng():
    return np.random.default_rng(1803)


def their_rows(rule, outside=None):
    """Row number of every pair by a rule of (i, j) written out here, None for no relative term."""
    return [[rule(i, j) for j in range(LENGTH)] for i in range(LENGTH)]


def read(table, rows):
    """What the pairs read, zeros where the row is None."""
    zeros = np.zeros_like(table[..., 0, :])
    picked = [[zeros if row is None else table[..., row, :] for row in line] for line in rows]
    return np.moveaxis(np.array(picked), (0, 1), (-3, -2))


def read_as_paper(table):
    k = table.shape[-2] // 2
    return read(table, their_rows(lambda i, j: max(-k, min(k, j - i)) + k))


def inside(row, num_rows):
    return row if 0 <= row < num_rows else None


# name, their number of rows, row of a pair in their words, arguments of the conversion
CASES = {
    "reversed": (5, lambda i, j: max(-2, min(2, i - j)) + 2, ()),
    "reversed, unclipped": (2 * LENGTH - 1, lambda i, j: i - j + LENGTH - 1, ()),
    "left_right": (4, lambda i, j: max(-2, min(1, j - i)) + 2, (2, 1)),
    "left_right, causal": (4, lambda i, j: max(-3, min(0, j - i)) + 3, (3, 0)),
    "left_right, longer right": (6, lambda i, j: max(-1, min(4, j - i)) + 1, (1, 4)),
    "zero_window": (7, lambda i, j: inside(j - i + 3, 7), ()),
    "causal_window": (4, lambda i, j: inside(j - i + 3, 4), ()),
}


def conversion(case):
    name = case.split(",")[0]
    return (
        getattr(conventions, f"from_{name}"), getattr(conventions, f"to_{name}"),
        getattr(conventions, f"grad_to_{name}"),
    )


@pytest.mark.parametrize("per_head", [False, True], ids=["shared", "per head"])
@pytest.mark.parametrize("case", CASES)
def test_every_pair_reads_the_same_vector_after_conversion(case, per_head, rng):
    num_rows, rule, arguments = CASES[case]
    theirs = rng.normal(size=(*([3] if per_head else []), num_rows, HEAD_DIM))
    ours = conversion(case)[0](theirs, *arguments)
    np.testing.assert_array_equal(read_as_paper(ours), read(theirs, their_rows(rule)))


@pytest.mark.parametrize("case", CASES)
def test_there_and_back_is_the_same_table(case, rng):
    num_rows, _, arguments = CASES[case]
    theirs = rng.normal(size=(3, num_rows, HEAD_DIM))
    convert, back, _ = conversion(case)
    np.testing.assert_array_equal(back(convert(theirs, *arguments), *arguments), theirs)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_map_is_the_transpose_of_the_conversion(case, rng):
    # <from(t), g> = <t, grad_to(g)> for every t and g
    num_rows, _, arguments = CASES[case]
    theirs = rng.normal(size=(3, num_rows, HEAD_DIM))
    convert, _, carry = conversion(case)
    ours = convert(theirs, *arguments)
    grad = rng.normal(size=ours.shape)
    np.testing.assert_allclose(
        np.sum(theirs * carry(grad, *arguments)), np.sum(ours * grad), rtol=1e-13
    )


def test_one_table_for_both_terms_gets_the_sum_of_both_gradients(rng):
    inputs = random_inputs(rng, value_dim=6)
    table = inputs.pop("relative_key_table")
    del inputs["relative_value_table"]
    key_table, value_table = conventions.from_one_table(table)
    output, cache = attention_forward(
        **inputs, relative_key_table=key_table, relative_value_table=value_table
    )
    grad_output = rng.normal(size=output.shape)
    grads = attention_backward(grad_output, cache)
    got = conventions.grad_to_one_table(grads.relative_key_table, grads.relative_value_table)

    step = np.zeros(table.shape, complex)
    step[3, 1] = 1e-100j
    moved, _ = attention_forward(
        **inputs, relative_key_table=table + step, relative_value_table=table + step
    )
    np.testing.assert_allclose(got[3, 1], np.sum(grad_output * moved).imag / 1e-100, rtol=1e-12)
    np.testing.assert_array_equal(conventions.to_one_table(key_table, value_table), table)


ROWS5 = np.arange(1.0, 11.0).reshape(5, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: conventions.to_zero_window(ROWS5), "largest element is 10: this table clips"),
        (lambda: conventions.to_zero_window(ROWS5[:1]), "at least 3"),
        (lambda: conventions.from_zero_window(ROWS5[:4]), "4 rows"),
        (lambda: conventions.from_reversed(ROWS5[:4]), "4 rows"),
        (lambda: conventions.to_causal_window(ROWS5), "first row must be zero"),
        (lambda: conventions.to_causal_window(ROWS5 * (ROWS5 > 2)), r"table\[..., 3:, :\] = 0"),
        (lambda: conventions.from_left_right(ROWS5, 2, 1), "5 rows, left 2 and right 1 need 4"),
        (lambda: conventions.to_left_right(ROWS5, 3, 1), r"need 7 \(k = 3\)"),
        (lambda: conventions.to_left_right(ROWS5, 2, 1), r"row 4 \(distance 2\) differs .* of dist"
                                                         "ance 1"),
        (lambda: conventions.to_left_right(ROWS5, 0, 2), r"row 0 \(distance -2\) differs"),
        (lambda: conventions.from_left_right(ROWS5, -1, 2), "left must be at least 0, got -1"),
        (lambda: conventions.to_one_table(ROWS5, ROWS5 + 0.5), "differ by up to 0.5"),
        (lambda: conventions.to_one_table(ROWS5, ROWS5[1:4]), "shapes"),
    ],
)
def test_what_cannot_be_converted_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_end_rows_of_one_head_alone_are_seen(rng):
    table = rng.normal(size=(3, 5, HEAD_DIM))
    table[:, [0, -1]] = 0
    table[2, 0, 1] = 0.25
    with pytest.raises(ValueError, match=r"largest element is 0\.25"):
        conventions.to_zero_window(table)


def test_every_function_in_the_listing_exists_with_its_gradient():
    for entry in conventions.CONVENTIONS:
        assert (entry.to_paper == "") == (entry.back == ""), entry
        if entry.to_paper:
            name = entry.to_paper.removeprefix("from_")
            assert entry.back == f"to_{name}"
            for function in (entry.to_paper, entry.back, f"grad_to_{name}"):
                assert callable(getattr(conventions, function)), function


def test_the_listing_prints_one_line_per_implementation():
    lines = conventions.conventions_markdown().splitlines()
    assert len(lines) == len(conventions.CONVENTIONS) + 2
    assert len({len(line) for line in lines}) == 1
    assert all(line.count("|") == 11 for line in lines)
