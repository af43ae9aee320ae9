import numpy as np
import pytest

from relpos_np import check_gradients, lookup, lookup_backward


@pytest.fixture
def index():
    return np.array([[2, 3, 4, 4], [1, 2, 3, 4], [0, 1, 2, 3]])


@pytest.mark.parametrize("heads", [(), (3,)])
def test_lookup_reads_the_row_that_the_index_names(index, heads):
    table = np.random.default_rng(0).normal(size=(*heads, 5, 6))
    pairs = lookup(table, index)
    assert pairs.shape == (*heads, 3, 4, 6)
    for i, j in np.ndindex(index.shape):
        np.testing.assert_array_equal(pairs[..., i, j, :], table[..., index[i, j], :])


@pytest.mark.parametrize("heads", [(), (3,)])
def test_rows_read_by_several_pairs_add_up_in_the_backward(index, heads):
    rng = np.random.default_rng(1)
    grad_pairs = rng.normal(size=(*heads, 3, 4, 6))
    expected = np.zeros((*heads, 5, 6))
    for i, j in np.ndindex(index.shape):
        expected[..., index[i, j], :] += grad_pairs[..., i, j, :]
    np.testing.assert_allclose(lookup_backward(grad_pairs, index, 5), expected, atol=1e-15)


def test_fancy_indexed_addition_loses_all_but_the_last_pair_of_a_row(index):
    grad_pairs = np.ones((3, 4, 1))
    buffered = np.zeros((5, 1))
    buffered[index] += grad_pairs  # what one would write first
    np.testing.assert_array_equal(buffered.ravel(), [1, 1, 1, 1, 1])
    np.testing.assert_array_equal(lookup_backward(grad_pairs, index, 5).ravel(), [1, 2, 3, 3, 3])


@pytest.mark.parametrize("heads", [(), (3,)])
def test_lookup_backward_is_the_gradient_of_lookup(index, heads):
    rng = np.random.default_rng(2)
    table, grad_pairs = rng.normal(size=(*heads, 5, 6)), rng.normal(size=(*heads, 3, 4, 6))
    gradient = lookup_backward(grad_pairs, index, 5)
    check_gradients(
        lambda table: lookup(table, index), {"table": table}, {"table": gradient}, grad_pairs
    ).assert_ok()


@pytest.mark.parametrize("row", [-1, 5])
def test_a_row_outside_the_table_is_refused_instead_of_wrapping(row):
    with pytest.raises(IndexError, match=r"rows 0 \.\. 4"):
        lookup(np.ones((5, 2)), np.array([[row]]))
