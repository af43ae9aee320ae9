"""Candidates that break the contract: a clear line, the right exit code, all other cases run."""

import itertools
import re
import sys

import numpy as np
import pytest
from verify_candidates import flat

from relpos_np import attention_backward, attention_forward
from relpos_np.verify import verify


def right(query, key, value, key_table, value_table, mask=None, query_start=None):
    return attention_forward(
        query, key, value, key_table, value_table, mask=mask, query_start=query_start)[0]


def wrong_shape(*arrays, **options):
    return right(*arrays, **options)[..., :-1]


def wrong_dtype(*arrays, **options):
    return right(*arrays, **options).astype(np.float32)


def exception_inside(*arrays, **options):
    raise RuntimeError("shape mismatch\n in line 7")


def exception_for_k_zero(*arrays, **options):
    if arrays[3] is not None and arrays[3].shape[-2] == 1:
        raise IndexError("index 1 is out of bounds")
    return right(*arrays, **options)


def changes_its_query(query, *arrays, **options):
    output = right(query, *arrays, **options)
    query /= 2
    return output


def prints(*arrays, **options):
    print('{"not": "our JSON"')
    return right(*arrays, **options)


def returns_a_list(*arrays, **options):
    return right(*arrays, **options).tolist()


def returns_nothing(*arrays, **options):
    right(*arrays, **options)


def returns_text(*arrays, **options):
    return np.array("done")


def ends_the_program(*arrays, **options):
    sys.exit(0)


def hangs_for_three_queries(query, *arrays, **options):
    while query.shape[2] == 3:
        pass
    return right(query, *arrays, **options)


def reads_memory_in_order(*arrays, **options):
    """What a C port does with a transposed view: takes its memory for a contiguous array."""
    memory = [a if a is None or a.flags.c_contiguous else a.swapaxes(-1, -2).reshape(a.shape)
              for a in arrays]
    return right(*memory, **options)


class TensorThatNeedsGrad:
    """Looks to the harness as a torch tensor does that still carries its graph."""

    requires_grad = True

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")


def returns_a_tensor_that_needs_grad(*arrays, **options):
    return TensorThatNeedsGrad()


def not_deterministic():
    calls = itertools.count()

    def candidate(*arrays, **options):
        return right(*arrays, **options) + 1e-9 * next(calls)

    return candidate


@pytest.mark.parametrize(("candidate", "name", "line", "code"), [
    (wrong_shape, "wrong_shape", "shape (2, 3, 7, 5), expected (2, 3, 7, 6)", 1),
    (wrong_dtype, "wrong_dtype", "float32 for float64 inputs", 1),
    (exception_inside, "raises", "RuntimeError: shape mismatch in line 7", 4),
    (exception_for_k_zero, "raises", "IndexError: index 1 is out of bounds", 1),
    (changes_its_query, "inputs_changed", "changed its argument query", 1),
    (not_deterministic(), "not_deterministic", "gave two answers", 1),
    (returns_a_list, "no_array", "is a list, not an array: return np.asarray(output)", 4),
    (returns_nothing, "no_array", "is a NoneType", 4),
    (returns_text, "no_array", "holds no numbers", 4),
    (returns_a_tensor_that_needs_grad, "no_array", "requires grad: return output.detach()", 4),
    (ends_the_program, "raises", "called sys.exit", 4),
    (reads_memory_in_order, "strided_inputs", "np.ascontiguousarray", 1),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_bad_candidate_gets_a_clear_line_and_an_exit_code(candidate, name, line, code):
    report = verify(candidate)
    assert report.names == (name,), str(report)
    assert line in flat(report), str(report)
    assert report.exit_code == code


def test_a_candidate_that_hangs_is_stopped_and_the_other_cases_still_run():
    report = verify(hangs_for_three_queries, time_limit=0.2)
    statuses = {case.id: case.status for case in report.cases}
    assert [case for case, status in statuses.items() if status == "hangs"] == [
        "cross", "cross_offset", "short"]
    assert set(statuses.values()) == {"pass", "hangs"}
    assert "no answer within 0.2 s" in flat(report)
    assert report.exit_code == 1


def test_a_candidate_that_always_hangs_could_not_be_run():
    def hangs(*arrays):
        while True:
            pass

    report = verify(hangs, time_limit=0.05, without=["mask", "cross", "big"])
    assert (report.verdict, report.exit_code) == ("CANNOT RUN", 4)


def test_what_a_candidate_prints_is_set_aside_and_mentioned(capsys):
    report = verify(prints)
    report.assert_ok()
    assert "it printed 19 characters, which were set aside" in flat(report)
    assert capsys.readouterr().out == ""


def test_wider_numbers_inside_a_float32_candidate_are_named():
    def widens(*arrays, **options):
        return right(*arrays, **options) * (np.sqrt(np.float64(4)) / 2)

    report = verify(widens, dtype="float32")
    assert report.names == ("wrong_dtype",)
    assert "1/np.sqrt(d)" in flat(report)


def test_a_float32_softmax_inside_a_float64_candidate_is_named():
    def narrows(*arrays, mask=None, query_start=None):
        output, cache = attention_forward(*arrays, mask=mask, query_start=query_start)
        weights = cache.weights.astype(np.float32).astype(np.float64)
        pairs = np.broadcast_to(
            cache.relative_value, (output.shape[1], *cache.relative_value.shape[-3:]))
        return weights @ cache.value + np.einsum("bhij,hijd->bhid", weights, pairs)

    report = verify(narrows)
    assert report.names == ("float32_inside",), str(report)
    assert report.exit_code == 1


def test_gradients_that_raise_or_have_foreign_names_are_a_fault():
    def with_foreign_names(grad_output, *arrays, **options):
        return {"dq": grad_output}

    report = verify(right, grads=with_foreign_names)
    assert report.names == ("gradients_no_array",)
    assert "gradients named ['dq']" in flat(report)


def test_gradients_that_add_up_from_call_to_call_are_a_fault():
    buffers = {}

    def never_cleared(grad_output, *arrays, mask=None, query_start=None):
        cache = attention_forward(*arrays, mask=mask, query_start=query_start)[1]
        grads = attention_backward(grad_output, cache)._asdict()
        for name, grad in grads.items():
            if grad is not None:
                key = name, grad_output.tobytes()
                buffers[key] = buffers.get(key, 0) + grad
                grads[name] = buffers[key].copy()
        return grads

    report = verify(right, grads=never_cleared)
    assert report.names == ("gradients_not_deterministic",), str(report)
    assert report.exit_code == 1


def test_only_some_gradients_may_be_given_and_the_others_are_not_excluded():
    def of_the_query(grad_output, *arrays, mask=None, query_start=None):
        cache = attention_forward(*arrays, mask=mask, query_start=query_start)[1]
        return {"query": attention_backward(grad_output, cache).query}

    report = verify(right, grads=of_the_query)
    report.assert_ok()
    missed = [name for _, names in report.not_excluded for name in names]
    assert "scatter_last_wins" in missed
    assert "dq_rel_missing" not in missed


@pytest.mark.parametrize(("name", "words"), [
    ("nowhere", "names no function"),
    ("nowhere.py:attention", "there is no file 'nowhere.py'"),
    ("no_such_module:attention", "could not be imported: ModuleNotFoundError"),
    ("relpos_np:attend", "has no function 'attend'"),
])
def test_a_candidate_that_cannot_be_found_is_a_value_error_that_says_why(name, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        verify(name)


def test_a_file_that_fails_on_import_is_a_value_error_that_says_why(tmp_path):
    path = tmp_path / "broken_port.py"
    path.write_text("import numpy\nraise SystemExit('not as a library')\n")
    with pytest.raises(ValueError, match="could not be imported: SystemExit: not as a library"):
        verify(f"{path}:attention")


def test_a_name_of_no_case_and_an_unknown_dtype_are_refused():
    with pytest.raises(ValueError, match="no case is called or tagged 'masks'"):
        verify(right, without=["masks"])
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, float16"):
        verify(right, dtype="int8")
    with pytest.raises(ValueError, match="framework must be one of torch, jax"):
        verify(right, framework="tensorflow")
