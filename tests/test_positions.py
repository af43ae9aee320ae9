import numpy as np
import pytest

from relpos_np import clip_relative_position, relative_position_matrix, table_index


@pytest.mark.parametrize(("query_len", "key_len", "query_start"), [
    (5, 5, None), (1, 1, None), (0, 0, None), (3, 8, 5), (3, 8, 0), (4, 4, 2), (0, 3, 3), (3, 0, 0),
])
def test_every_entry_is_key_position_minus_query_position(query_len, key_len, query_start):
    matrix = relative_position_matrix(query_len, key_len, query_start)
    expected = [[j - ((query_start or 0) + i) for j in range(key_len)] for i in range(query_len)]
    np.testing.assert_array_equal(matrix, np.array(expected, int).reshape(query_len, key_len))
    assert np.issubdtype(matrix.dtype, np.integer)


def test_rows_of_a_cached_step_are_the_last_rows_of_the_full_matrix():
    full = relative_position_matrix(9)
    for new in range(1, 10):
        chunk = relative_position_matrix(new, 9, query_start=9 - new)
        np.testing.assert_array_equal(chunk, full[9 - new:])


def test_unequal_lengths_without_query_start_say_what_a_cache_wants():
    with pytest.raises(ValueError, match=r"KV cache.*key_len - query_len = 3"):
        relative_position_matrix(2, 5)


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ((-1,), ValueError, "query_len must be at least 0, got -1"),
    ((2, -3), ValueError, "key_len must be at least 0, got -3"),
    ((2.0,), TypeError, "query_len must be an integer, got 2.0"),
    ((2, 5, "3"), TypeError, "query_start must be an integer, got '3'"),
])
def test_lengths_that_are_not_lengths_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        relative_position_matrix(*arguments)


@pytest.mark.parametrize("k", [0, 1, 3, 50])
def test_clip_and_shift_give_the_paper_s_row_for_every_distance(k):
    position = relative_position_matrix(9)
    index = table_index(clip_relative_position(position, k), k)
    expected = [[max(-k, min(k, j - i)) + k for j in range(9)] for i in range(9)]
    np.testing.assert_array_equal(index, expected)


def test_long_sequences_do_not_overflow_the_integers():
    position = relative_position_matrix(1, 70_000, query_start=69_999)
    assert position[0, 0] == -69_999


def test_negative_k_is_refused():
    with pytest.raises(ValueError, match="max_relative_position must be at least 0, got -1"):
        clip_relative_position([0], -1)


@pytest.mark.parametrize("position", [[3], [-3], [[0, 1], [2, 3]]])
def test_an_unclipped_position_is_refused_instead_of_wrapping(position):
    with pytest.raises(ValueError, match="clip them first"):
        table_index(position, 2)
