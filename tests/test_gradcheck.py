"""The checkers, tried on functions that have nothing to do with attention."""

import numpy as np
import pytest

from relpos_np import check_gradients, taylor_slope


def function(a, b):
    return np.exp(a) * np.sin(b) + a @ b


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    inputs = {"a": rng.normal(size=(4, 4)), "b": rng.normal(size=(4, 4))}
    grad_output = rng.normal(size=(4, 4))
    a, b = inputs.values()
    gradients = {
        "a": grad_output * np.exp(a) * np.sin(b) + grad_output @ b.T,
        "b": grad_output * np.exp(a) * np.cos(b) + a.T @ grad_output,
    }
    return inputs, gradients, grad_output


@pytest.mark.parametrize("method", ["complex step", "central differences"])
def test_right_gradients_pass(problem, method):
    inputs, gradients, grad_output = problem
    check_gradients(function, inputs, gradients, grad_output, method=method).assert_ok()


@pytest.mark.parametrize("method", ["complex step", "central differences"])
def test_one_wrong_element_is_named_with_its_index_and_both_numbers(problem, method):
    inputs, gradients, grad_output = problem
    right = gradients["b"][2, 1]
    gradients["b"][2, 1] += 0.01
    report = check_gradients(function, inputs, gradients, grad_output, method=method)
    assert not report.passed
    wrong = next(entry for entry in report.errors if entry.name == "b")
    assert (wrong.index, wrong.got) == ((2, 1), right + 0.01)
    np.testing.assert_allclose(wrong.expected, right, rtol=1e-7)
    with pytest.raises(AssertionError, match=r"ok    a(.|\n)*WRONG b: .* at \(2, 1\)"):
        report.assert_ok()


def test_nan_never_passes(problem):
    inputs, gradients, grad_output = problem
    gradients["a"][0, 3] = np.nan
    report = check_gradients(function, inputs, gradients, grad_output)
    assert not report.passed
    assert report.errors[0].index == (0, 3)


def test_taylor_slope_is_two_for_right_and_one_for_slightly_wrong_gradients(problem):
    inputs, gradients, grad_output = problem
    slope = taylor_slope(function, inputs, gradients, grad_output, np.random.default_rng(1))
    assert 1.9 < slope < 2.1, slope
    gradients["a"] = gradients["a"] * 1.005
    slope = taylor_slope(function, inputs, gradients, grad_output, np.random.default_rng(1))
    assert 0.9 < slope < 1.1, slope


def test_taylor_slope_of_a_linear_function_with_its_gradient_is_infinite():
    inputs, grad_output = {"x": np.arange(3.0)}, np.array([1.0, -2.0, 0.5])
    rng = np.random.default_rng(2)
    assert taylor_slope(lambda x: 3 * x, inputs, {"x": 3 * grad_output}, grad_output, rng) == np.inf


def test_a_function_that_drops_the_imaginary_part_is_told_so():
    with pytest.raises(TypeError, match=r"drops the imaginary part.*central differences"):
        check_gradients(
            lambda x: np.abs(x), {"x": np.ones(3)}, {"x": np.ones(3)}, np.ones(3)
        )


@pytest.mark.parametrize(("gradients", "options", "message"), [
    ({"z": np.ones(3)}, {}, r"gradient 'z' has no input; inputs are \['x'\]"),
    ({"x": np.ones(4)}, {}, r"gradient 'x' has shape \(4,\), its input has \(3,\)"),
    ({"x": np.ones(3)}, {"method": "guess"}, "method must be one of .*complex step.*got 'guess'"),
])
def test_a_question_that_makes_no_sense_is_refused(gradients, options, message):
    with pytest.raises(ValueError, match=message):
        check_gradients(np.sin, {"x": np.ones(3)}, gradients, np.ones(3), **options)


def test_inputs_are_left_as_they_were(problem):
    inputs, gradients, grad_output = problem
    for array in inputs.values():
        array.setflags(write=False)
    check_gradients(function, inputs, gradients, grad_output).assert_ok()
