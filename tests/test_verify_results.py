"""Results read from files: what is missing, or cannot be read, never passes."""

import json

import numpy as np
import pytest

from relpos_np import attention_backward, attention_forward
from relpos_np.verify import verify, verify_results
from relpos_np.verify.cases import load_cases

OPTIONAL = {"value_dim", "per_head"}


@pytest.fixture
def results(tmp_path):
    """A directory with the right output of every case of the attention."""
    for case in load_cases():
        if not case.num_heads:
            np.savez(tmp_path / f"{case.id}.npz", output=case.expected["output"])
    return tmp_path


def keep(results, names):
    for path in results.iterdir():
        if path.stem not in names:
            path.unlink()


def test_one_right_result_alone_does_not_pass(results):
    keep(results, ["causal"])
    report = verify_results(results)
    assert (report.verdict, report.exit_code) == ("CANNOT RUN", 4), str(report)
    assert "14 cases have no result" in str(report)
    others = [case.id for case in load_cases() if case.id != "causal" and not case.num_heads]
    verify_results(results, without=others).assert_ok()


def test_optional_cases_may_be_missing(results):
    keep(results, {path.stem for path in results.iterdir()} - OPTIONAL)
    report = verify_results(results)
    report.assert_ok()
    assert "tables of its own" in str(report), "a PASS says what it has not seen"


def test_a_wrong_result_is_named_though_others_are_missing(results):
    keep(results, ["causal"])
    np.savez(results / "causal.npz", output=np.zeros((2, 3, 7, 6)))
    assert verify_results(results).verdict != "CANNOT RUN"


@pytest.mark.parametrize(("content", "words"), [
    ([1], "is not a JSON object"), ({"out": 1}, "has no 'output'")])
def test_a_file_that_cannot_be_judged_says_why(content, words, results):
    (results / "causal.npz").unlink()
    (results / "causal.json").write_text(json.dumps(content))
    report = verify_results(results)
    assert report.exit_code == 1
    assert f"causal.json cannot be read: it {words}" in str(report)


def test_a_gradient_that_never_came_back_is_said():
    def forward(*arrays, mask=None, query_start=None):
        return attention_forward(*arrays, mask=mask, query_start=query_start)[0]

    def backward(grad_output, *arrays, mask=None, query_start=None):
        cache = attention_forward(*arrays, mask=mask, query_start=query_start)[1]
        return attention_backward(grad_output, cache)._replace(relative_key_table=None)

    report = verify(forward, grads=backward)
    report.assert_ok()
    assert "no gradient came back for relative_key_table: not judged" in str(report)


def test_of_several_files_that_cannot_be_read_one_is_quoted_for_itself(results):
    for name in ("causal", "padding"):
        (results / f"{name}.npz").unlink()
        (results / f"{name}.json").write_text("[1]")
    assert "in causal; likewise in padding" in str(verify_results(results))
