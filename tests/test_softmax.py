import numpy as np
import pytest

from relpos_np import check_gradients, softmax, softmax_backward
from relpos_np.softmax import mask_scores


def test_rows_are_exponentials_over_their_sum():
    scores = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-14)


def test_huge_scores_do_not_overflow():
    np.testing.assert_array_equal(softmax(np.array([[6000.0, 0.0, -6000.0]])), [[1, 0, 0]])


def test_masked_keys_get_nothing_and_the_rest_sums_to_one():
    rng = np.random.default_rng(1)
    scores, mask = rng.normal(size=(2, 3, 4, 5)), rng.random((4, 5)) < 0.6
    mask[:, 2] = True
    weights = softmax(scores, mask)
    np.testing.assert_array_equal(weights[..., ~mask], 0)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    np.testing.assert_array_equal(weights, softmax(mask_scores(scores, mask)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex128])
def test_a_fully_masked_row_is_zero_without_a_warning(dtype):
    weights = softmax(np.ones((2, 3), dtype), np.array([[True] * 3, [False] * 3]))
    assert weights.dtype == dtype
    np.testing.assert_array_equal(weights[1], 0)
    np.testing.assert_array_equal(softmax_backward(np.ones((2, 3), dtype), weights)[1], 0)


def test_no_keys_at_all_is_an_empty_row():
    assert softmax(np.ones((2, 0))).shape == (2, 0)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_stay_visible(bad):
    weights = softmax(np.array([[0.0, bad, 1.0], [0.0, 1.0, 2.0]]))
    assert np.isnan(weights[0]).any()
    assert np.isfinite(weights[1]).all()


def test_backward_matches_the_complex_step_masked_pairs_included():
    rng = np.random.default_rng(2)
    scores, grad = rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 4, 5))
    mask = rng.random((4, 5)) < 0.6
    mask[1] = False
    gradient = softmax_backward(grad, softmax(scores, mask))
    check_gradients(
        lambda scores: softmax(scores, mask), {"scores": scores}, {"scores": gradient}, grad
    ).assert_ok()
    np.testing.assert_array_equal(gradient[:, ~mask], 0)
    np.testing.assert_allclose(gradient.sum(axis=-1), 0, atol=1e-15)
