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
    ({}, {}, "there is no gradient to check"),
    ({"x": None}, {}, "there is no gradient to check"),
    ({"x": np.ones(3)}, {"tolerance": np.inf}, "tolerance must be positive and finite, got inf"),
    ({"x": np.ones(3)}, {"grad_output": np.ones((3, 1))}, r"shape \(3, 1\), the output has \(3,\)"),
    ({"x": np.ones(3)}, {"method": "guess"}, "method must be one of .*complex step.*got 'guess'"),
])
def test_a_question_that_makes_no_sense_is_refused(gradients, options, message):
    options = {"grad_output": np.ones(3), **options}
    with pytest.raises(ValueError, match=message):
        check_gradients(lambda x: np.sin(x), {"x": np.ones(3)}, gradients, **options)


@pytest.mark.parametrize(("change", "message"), [
    ({"inputs": {"x": np.ones(3, np.float32)}}, "input 'x' is float32.*float64"),
    ({"inputs": {"x": np.ones(3, complex)}}, "input 'x' is complex128"),
    ({"inputs": {"x": [1.0, 2.0, 3.0]}}, "input 'x' is list"),
    ({"gradients": {"x": np.ones(3, complex)}}, "x has dtype complex128, not real"),
    ({"grad_output": np.ones(3, complex)}, "grad_output has dtype complex128, not real"),
    ({"function": lambda x: (x, x)}, r"returns a tuple.*attention_forward\(\*\*inputs\)\[0\]"),
])
def test_what_is_no_real_float64_array_is_a_type_error(change, message):
    question = {
        "function": lambda x: x**2, "inputs": {"x": np.ones(3)}, "gradients": {"x": np.ones(3)},
        "grad_output": np.ones(3),
    }
    with pytest.raises(TypeError, match=message):
        check_gradients(**{**question, **change})


@pytest.mark.parametrize("function", [
    lambda x: x * x.real, lambda x: x * np.conj(x), lambda x: x.astype(np.complex64) ** 2,
])
@pytest.mark.parametrize("wrong", [0.0, 1.0, 2.0])
def test_a_function_that_is_not_analytic_is_not_judged_by_the_complex_step(function, wrong):
    x = np.array([1.0, 2.0, -3.0])
    with pytest.raises((ValueError, TypeError), match=r"central difference"):
        check_gradients(function, {"x": x}, {"x": wrong * x}, np.ones(3))


@pytest.mark.parametrize("x", [1e12, -2.0, 1e-9])
def test_large_and_small_numbers_are_differenced_with_steps_of_their_size(x):
    x = np.array([x])
    check_gradients(
        lambda x: 3 * x, {"x": x}, {"x": np.full(1, 3.0)}, np.ones(1), method="central differences"
    ).assert_ok()


def test_a_function_that_writes_into_its_arguments_is_judged_and_does_no_harm():
    def square_in_place(x, other):
        x *= x
        other += 1
        return x

    inputs = {"x": np.array([1.0, 2.0, 3.0]), "other": np.zeros(2)}
    for method in ("complex step", "central differences"):
        gradients = {"x": 2 * inputs["x"]}
        check_gradients(
            square_in_place, inputs, gradients, np.ones(3), method=method
        ).assert_ok()
    np.testing.assert_array_equal(inputs["x"], [1, 2, 3])
    np.testing.assert_array_equal(inputs["other"], 0)


def test_taylor_slope_tells_nan_and_nothing_from_right():
    x, rng = np.array([1.0, 2.0]), np.random.default_rng(3)
    cube, one = (lambda x: x**3), np.ones(2)
    assert np.isnan(taylor_slope(cube, {"x": x}, {"x": np.array([np.nan, 1])}, one, rng))
    assert np.isnan(taylor_slope(lambda x: x * np.nan, {"x": x}, {"x": x}, one, rng))
    tiny_and_wrong = taylor_slope(lambda x: 1e-14 * x**3, {"x": x}, {"x": 1e-14 * x}, one, rng)
    assert 0.9 < tiny_and_wrong < 1.1
    with pytest.raises(ValueError, match="no gradient to check"):
        taylor_slope(cube, {"x": x}, {}, one, rng)


def test_inputs_are_left_as_they_were(problem):
    inputs, gradients, grad_output = problem
    for array in inputs.values():
        array.setflags(write=False)
    check_gradients(function, inputs, gradients, grad_output).assert_ok()
