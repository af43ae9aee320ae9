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


def heads_last(*arrays, **options):
    """Where the heads are as many as the queries the shape is right, and the numbers are not."""
    return right(*arrays, **options).transpose(0, 2, 1, 3)


def rounds_to_integers(*arrays, **options):
    return right(*arrays, **options).astype(np.int64)


def complex_output(*arrays, **options):
    return right(*arrays, **options).astype(np.complex128)


def interrupts(*arrays, **options):
    raise KeyboardInterrupt


def closes(*arrays, **options):
    raise GeneratorExit


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no words")


def unprintable(*arrays, **options):
    raise Unprintable


def yields(*arrays, **options):
    yield right(*arrays, **options)


async def awaits(*arrays, **options):
    return right(*arrays, **options)


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
    (returns_nothing, "no_array", "it returned None: is a return missing?", 4),
    (yields, "no_array", "it returned a generator", 4),
    (awaits, "no_array", "it returned a coroutine", 4),
    (heads_last, "wrong_shape", "shape (2, 7, 3, 6), expected (2, 3, 7, 6)", 1),
    (rounds_to_integers, "wrong_dtype", "the output is int64 for float64 inputs: return floats", 1),
    (complex_output, "no_array", "has dtype complex128: return output.real", 4),
    (interrupts, "raises", "it raised KeyboardInterrupt", 4),
    (closes, "raises", "it raised GeneratorExit", 4),
    (unprintable, "raises", "it raised Unprintable", 4),
    (returns_text, "no_array", "holds no numbers", 4),
    (returns_a_tensor_that_needs_grad, "no_array", "requires grad: return output.detach()", 4),
    (ends_the_program, "raises", "called sys.exit", 4),
    (reads_memory_in_order, "strided_inputs", "call np.ascontiguousarray on each argument", 1),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_bad_candidate_gets_a_clear_line_and_an_exit_code(candidate, name, line, code):
    report = verify(candidate)
    assert report.names == (name,), str(report)
    assert line in flat(report), str(report)
    assert "UNKNOWN" not in str(report)
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
    report = verify(prints, grads=lambda *arrays, **options: print("here", file=sys.stderr))
    assert "it printed 19 characters, which were set aside" in flat(report)
    assert capsys.readouterr() == ("", "")


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
    assert "unknown gradient name 'dq'; use query, key, value," in flat(report)

    report = verify(right, grads=lambda grad_output, *arrays, **options: arrays[:2])
    assert "returned 2 gradients, expected 5: query, key, value," in flat(report)


def spoilt(change):
    def grads(grad_output, *arrays, mask=None, query_start=None):
        cache = attention_forward(*arrays, mask=mask, query_start=query_start)[1]
        found = attention_backward(grad_output, cache)
        return change(found, grad_output, *arrays)

    return grads


def narrow(found, *_):
    return [grad if grad is None else grad.astype(np.float32) for grad in found]


def doubles_its_upstream(found, grad_output, *_):
    grad_output *= 2
    return found


def adds_to_its_query(found, grad_output, query, *_):
    query += 1
    return found


@pytest.mark.parametrize(("change", "name", "line"), [
    (narrow, "gradients_wrong_dtype", "the gradient of query is float32 for float64 inputs"),
    (doubles_its_upstream, "gradients_inputs_changed", "changed its argument grad_output"),
    (adds_to_its_query, "gradients_inputs_changed", "changed its argument query"),
])
def test_the_gradient_function_keeps_to_the_contract_too(change, name, line):
    report = verify(right, grads=spoilt(change))
    assert report.names == (name,), str(report)
    assert line in flat(report)
    assert report.exit_code == 1


def raising_for_tables_per_head(error):
    def candidate(*arrays, **options):
        if arrays[3] is not None and arrays[3].ndim == 3:
            raise error
        return right(*arrays, **options)

    return candidate


@pytest.mark.parametrize("error", [MemoryError("2 TiB"), TypeError("a typing slip")])
def test_an_optional_case_is_left_out_for_a_refusal_only(error):
    report = verify(raising_for_tables_per_head(error))
    assert (report.verdict, report.names) == ("MISTAKE", ("raises",)), str(report)
    verify(raising_for_tables_per_head(NotImplementedError())).assert_ok()


def test_a_hang_in_an_optional_case_is_a_breach():
    def hangs_for_tables_per_head(*arrays, **options):
        while arrays[3] is not None and arrays[3].ndim == 3:
            pass
        return right(*arrays, **options)

    report = verify(hangs_for_tables_per_head, time_limit=0.2)
    assert (report.verdict, report.names) == ("MISTAKE", ("hangs",)), str(report)


def test_an_output_with_nan_is_not_taken_for_strided_inputs():
    report = verify(lambda *arrays, **options: right(*arrays, **options) * np.nan)
    assert "strided_inputs" not in report.names, str(report)


def test_a_candidate_that_changes_after_many_calls_is_not_taken_for_strided_inputs():
    calls = itertools.count()

    def candidate(*arrays, **options):
        return right(*arrays, **options) * (1 + 1e-3 * (next(calls) > 30))

    assert "strided_inputs" not in verify(candidate).names


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


def test_a_file_that_interrupts_or_ends_on_import_is_a_value_error(tmp_path):
    path = tmp_path / "interrupting_port.py"
    path.write_text("raise KeyboardInterrupt\n")
    with pytest.raises(ValueError, match="could not be imported: KeyboardInterrupt"):
        verify(f"{path}:attention")


def test_a_file_of_a_package_is_told_how_to_be_named(tmp_path, monkeypatch):
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "impl.py").write_text("from .other import attention\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"relative import.*; write my_package.impl:FUNCTION"):
        verify("my_package/impl.py:attention")


def test_one_word_of_cases_to_leave_out_need_not_be_a_list():
    report = verify(right, without="mask,long")
    assert {case.id for case in report.cases if case.status == "left out"} == {
        "causal", "padding", "big_logits_causal", "fully_masked", "long"}


def test_a_name_of_no_case_and_an_unknown_dtype_are_refused():
    with pytest.raises(ValueError, match="no case is called or tagged 'masks'"):
        verify(right, without=["masks"])
    for limit in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=f"time_limit must be above 0 seconds, got {limit}"):
            verify(right, time_limit=limit)
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, float16"):
        verify(right, dtype="int8")
    with pytest.raises(ValueError, match="framework must be one of torch, jax"):
        verify(right, framework="tensorflow")
