"""The verifier as a command, as files for other languages, as JSON, as a figure, under pytest."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from verify_candidates import as_attention, as_backward

from relpos_np.__main__ import main
from relpos_np.verify import case_tests, explain, verify, verify_results
from relpos_np.verify.cases import load_cases
from relpos_np.verify.exchange import export_cases, rounded_up
from relpos_np.verify.mistakes import EVERYTHING, find

JAVASCRIPT = Path(__file__).parent / "javascript"
PORT = '''
import numpy as np

def attention(q, k, v, aK, aV, mask, query_start, sign=1, scale=True):
    aK = np.zeros((1, q.shape[-1])) if aK is None else aK
    aV = np.zeros((1, v.shape[-1])) if aV is None else aV
    i, j = np.arange(q.shape[2])[:, None] + query_start, np.arange(k.shape[2])
    rows = [a[..., np.clip(sign * (j - i), -(a.shape[-2] // 2), a.shape[-2] // 2)
              + a.shape[-2] // 2, :] for a in (aK, aV)]
    s = (q[..., None, :] * (k[:, :, None] + rows[0])).sum(-1) / (q.shape[-1] ** 0.5 if scale else 1)
    s = s if mask is None else np.where(mask, s, -np.inf)
    top = s.max(-1, keepdims=True)
    w = np.exp(s - np.where(top == -np.inf, 0, top))
    w = w / np.maximum(w.sum(-1, keepdims=True), 1e-300)
    return (w[..., None] * (v[:, :, None] + rows[1])).sum(-2)

def reversed_tables(q, k, v, aK, aV, mask, query_start):
    return attention(q, k, v, aK, aV, mask, query_start, sign=-1)

def unscaled(q, k, v, aK, aV, mask, query_start):
    return attention(q, k, v, aK, aV, mask, query_start, scale=False)

def without_mask(q, k, v, aK, aV, mask, query_start):
    return attention(q, k, v, aK, aV, None, query_start)

def cubed(q, k, v, aK, aV, mask, query_start):
    return attention(q, k, v, aK, aV, mask, query_start) ** 3

def broken(*arrays):
    raise RuntimeError("not today")

def crashes(*arrays):
    import ctypes
    ctypes.string_at(0)

def leaves(*arrays):
    import os
    os._exit(0)

def writes_to_the_pipe(*arrays):
    import os
    os.write(1, b"from below")
    return attention(*arrays[:5], arrays[5], arrays[1].shape[2] - arrays[0].shape[2])
'''


@pytest.fixture
def port(tmp_path):
    path = tmp_path / "my_port.py"
    path.write_text(PORT)
    return str(path)


@pytest.mark.parametrize(("function", "code", "words"), [
    ("attention", 0, "PASS"),
    ("without_mask", 1, "MISTAKE mask_ignored"),
    ("reversed_tables", 2, "CONVENTION sign_flip"),
    ("unscaled", 2, "RESCALE no_scale"),
    ("cubed", 3, "UNKNOWN"),
    ("broken", 4, "CANNOT RUN"),
    ("no_such_function", 4, "has no function 'no_such_function'"),
])
def test_the_exit_code_says_the_verdict(function, code, words, port, capsys):
    assert main(["verify", f"{port}:{function}"]) == code
    shown = capsys.readouterr()
    assert words in shown.out + shown.err


def test_a_crash_in_compiled_code_is_exit_4_in_a_process_of_its_own(port, capfd):
    assert main(["verify", f"{port}:crashes", "--isolated", "--without", "long"]) == 4
    shown = capfd.readouterr().err
    assert "CANNOT RUN: the candidate crashed (SIGSEGV)" in shown
    assert "my_port.py" in shown  # where it happened
    assert main(["verify", f"{port}:unscaled", "--isolated", "--without", "long"]) == 2
    assert "RESCALE no_scale" in capfd.readouterr().out


@pytest.mark.parametrize("command", [["verify", "--without", "long"], ["probe"]])
def test_a_candidate_that_leaves_the_process_is_exit_4_in_one_of_its_own(command, port, capfd):
    name, *options = command
    assert main([name, f"{port}:leaves", "--isolated", *options]) == 4
    shown = capfd.readouterr()
    assert "CANNOT RUN: the candidate ended the process (exit code 0)" in shown.err
    assert main([name, f"{port}:no_such_function", "--isolated", *options]) == 4
    assert main([name, f"{port}:attention", "--isolated", *options]) == 0


def test_standard_output_holds_nothing_but_the_report(port, capfd):
    assert main(["verify", f"{port}:writes_to_the_pipe", "--without", "long"]) == 0
    shown = capfd.readouterr()
    assert shown.out.startswith("PASS")
    assert "from below" not in shown.out


@pytest.mark.parametrize("wrong", [
    ["--json", "FILE/report.json"], ["--plot", "FILE/where.png"], ["--plot", "where.xyz"],
    ["--json", "."],
    ["--dtype", "int8"], ["--no-such-option"], ["--time-limit", "0"], ["--time-limit", "soon"],
])
def test_a_wrong_option_or_file_is_exit_4_before_the_work(wrong, port, tmp_path, capsys):
    (tmp_path / "FILE").write_text("")
    words = [word.replace("FILE", str(tmp_path / "FILE")) for word in wrong]
    try:
        code = main(["verify", f"{port}:attention", *words])
    except SystemExit as stop:
        code = stop.code
    assert code == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err


def test_options_that_results_cannot_heed_are_refused(port, tmp_path, capsys):
    for option in (["--grads", "x:y"], ["--framework", "torch"], ["--time-limit", "3"]):
        assert main(["verify", "--results", str(tmp_path), *option]) == 4
        assert f"{option[0]} has no meaning with --results" in capsys.readouterr().err


def test_an_error_of_the_verifier_itself_is_exit_4_and_not_a_verdict(port, monkeypatch, capsys):
    def fails(*arguments):
        raise KeyError("zeros")

    monkeypatch.setattr("relpos_np.verify.verifying.judge", fails)
    assert main(["verify", f"{port}:attention", "--without", "long"]) == 4
    assert "CANNOT RUN: the verifier itself failed: KeyError: 'zeros'" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_verdict(port):
    run = subprocess.run(
        f"{sys.executable} -m relpos_np verify {port}:attention --without long | true; "
        "exit ${PIPESTATUS[0]}", shell=True, executable="/bin/bash", check=False)
    assert run.returncode == 4


def test_a_figure_of_nothing_is_said_to_be_none(port, tmp_path, capsys):
    path = tmp_path / "none.svg"
    assert main(["verify", f"{port}:attention", "--plot", str(path)]) == 0
    assert "nothing to plot" in capsys.readouterr().out
    assert not path.exists()


def test_folders_of_the_files_to_write_are_made(port, tmp_path, capsys):
    path = tmp_path / "new" / "report.json"
    main(["verify", f"{port}:unscaled", "--json", str(path), "--without", "long"])
    assert json.loads(path.read_text())["verdict"] == "RESCALE"


def test_a_strangers_first_run_says_what_it_could_not_exclude(port):
    run = subprocess.run([sys.executable, "-m", "relpos_np", "verify", f"{port}:attention"],
                         capture_output=True, text=True, check=True)
    assert "no gradients were given (grads=...): softmax_no_correction" in run.stdout
    assert "the layer was not run (layer=True): split_without_transpose" in run.stdout


def test_leaving_out_cases_is_said_together_with_what_they_would_have_shown(port, capsys):
    assert main(["verify", f"{port}:attention", "--without", "mask,cross,long"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "left out: causal, padding, cross, one_query, cross_offset," in shown
    assert "it shows in long: int8_overflow" in shown
    assert "it shows in causal and padding and big_logits_causal: mask_ignored" in shown
    assert "it shows in cross and one_query and cross_offset: no_query_offset" in shown


def test_ambiguity_is_told_when_the_separating_case_was_left_out():
    report = verify(as_attention(find("K_index_transposed").change), without=["cross"])
    assert set(report.names) == {"K_index_transposed", "aK_flipped_only"}
    assert "would separate them: cross" in str(report)


def test_the_json_report_holds_the_verdict_and_every_case(port, tmp_path, capsys):
    path = tmp_path / "report.json"
    main(["verify", f"{port}:unscaled", "--json", str(path)])
    report = json.loads(path.read_text())
    assert (report["verdict"], report["exit_code"], report["names"]) == (
        "RESCALE", 2, ["no_scale"])
    assert len(report["cases"]) == 17
    assert {"id", "status", "ratio", "note"} <= report["cases"][0].keys()
    assert not list(tmp_path.glob(".*"))


def test_the_figure_shows_where_the_weights_differ(port, tmp_path, capsys):
    report = verify(f"{port}:reversed_tables")
    figure = report.plot()
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == [f"unmasked, batch 0, head {head}" for head in range(3)] or (
        titles[:3] == [f"unmasked, batch 1, head {head}" for head in range(3)])
    main(["verify", f"{port}:reversed_tables", "--plot", str(tmp_path / "where.png")])
    assert (tmp_path / "where.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="nothing to plot"):
        verify(f"{port}:attention", without=["long"]).plot()


def test_weights_are_read_from_a_function_that_returns_the_output_alone(port):
    alone = verify(f"{port}:unscaled").where
    with_stages = verify(as_attention(find("no_scale").change, stages=("weights",))).where
    assert alone["case"] == with_stages["case"]
    np.testing.assert_allclose(alone["got"], with_stages["got"], atol=1e-12)


def write_results(directory, changes, file_format, backward=None):
    directory.mkdir()
    attention = as_attention(changes)
    for case in load_cases():
        if case.num_heads:
            continue
        options = {"mask": case.mask, "query_start": case.query_start}
        try:
            arrays = {"output": attention(*case.inputs.values(), **options)}
        except (IndexError, ValueError):
            continue
        if backward is not None:
            grads = as_backward(backward)(case.grad_output, *case.inputs.values(), **options)
            arrays |= {f"grad_{name}": grad for name, grad in zip(case.inputs, grads, strict=True)
                       if grad is not None}
        if file_format == "npz":
            np.savez(directory / f"{case.id}.npz", **arrays)
        else:
            answer = {name: {"shape": a.shape, "data": a.ravel().tolist()}
                      for name, a in arrays.items()}
            (directory / f"{case.id}.json").write_text(json.dumps(answer))


@pytest.mark.parametrize("file_format", ["npz", "json"])
def test_results_of_another_language_are_judged_from_files(file_format, tmp_path, capsys):
    write_results(tmp_path / "right", {}, file_format, backward={})
    assert main(["verify", "--results", str(tmp_path / "right")]) == 0
    write_results(tmp_path / "wrong", find("off_by_one_ahead").change, file_format)
    assert main(["verify", "--results", str(tmp_path / "wrong")]) == 1
    assert "MISTAKE off_by_one_ahead" in capsys.readouterr().out
    report = verify_results(tmp_path / "right")
    assert "grads" not in str(report.not_excluded)


def test_wrong_gradients_in_files_are_named_and_missing_files_are_left_out(tmp_path, capsys):
    write_results(tmp_path / "port", {}, "npz", backward=find("scatter_mean").change)
    (tmp_path / "port" / "long.npz").unlink()
    (tmp_path / "port" / "cross.npz").write_bytes(b"not an archive")
    report = verify_results(tmp_path / "port")
    assert "scatter_mean" in report.names, str(report)
    assert {case.id: case.status for case in report.cases}["long"] == "left out"
    assert "cross" in str(report)
    assert main(["verify", "--results", str(tmp_path / "nowhere")]) == 4
    assert main(["verify"]) == 4


@pytest.mark.parametrize("file_format", ["npz", "json"])
def test_exported_cases_hold_everything_a_port_needs(file_format, tmp_path, capsys):
    assert main(["cases", "export", str(tmp_path), "--format", file_format]) == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [entry["id"] for entry in manifest["cases"]] == [case.id for case in load_cases()]
    assert manifest["dtypes"]["float32"]["unit_roundoff"] == 2.0**-24
    entry = next(entry for entry in manifest["cases"] if entry["id"] == "big_logits")
    assert entry["dtypes"] == ["float64", "float32"]
    if file_format == "json":
        content = json.loads((tmp_path / "causal.json").read_text())
        assert content["inputs"]["query"]["shape"] == [2, 3, 7, 6]
        case = next(case for case in load_cases() if case.id == "causal")
        for name in ("output", "weights", "grad_relative_key_table"):
            data = np.array(content["expected"][name]["data"])
            np.testing.assert_array_equal(data, case.expected[name].ravel())
            assert len(content["condition"][name]["data"]) == data.size


def test_exported_conditions_are_rounded_up():
    bounds = np.array([0.0, 1.0, 1.234, 99.99, 1e-9])
    assert np.all(rounded_up(bounds) >= bounds)
    np.testing.assert_allclose(rounded_up(bounds), bounds, rtol=0.01)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_javascript_port_passes_the_exported_cases_and_is_judged_from_its_results(tmp_path):
    export_cases(tmp_path / "cases", layer=False)
    (tmp_path / "results").mkdir()
    reader = [shutil.which("node"), str(JAVASCRIPT / "read_cases.js"), str(tmp_path / "cases"),
              str(tmp_path / "results")]
    run = subprocess.run(reader, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("pass") == 17
    verify_results(tmp_path / "results").assert_ok()

    source = (JAVASCRIPT / "attention.js").read_text()
    wrong = tmp_path / "wrong.js"
    wrong.write_text(source.replace("distance - query_start", "query_start - distance"))
    assert wrong.read_text() != source
    run = subprocess.run([*reader, str(wrong)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert verify_results(tmp_path / "results").names == ("sign_flip",)


def test_probe_and_explain_are_commands(port, capsys):
    assert main(["probe", f"{port}:reversed_tables"]) == 0
    assert "2 1 0 0 0 0 0     2 3 4 4 4 4 4" in capsys.readouterr().out
    assert main(["probe", f"{port}:broken"]) == 4
    assert main(["explain", "K_index_transposed"]) == 0
    assert "right form is einsum('bhqd,qLd->bhqL')" in capsys.readouterr().out
    assert main(["explain", "K_index_transpose"]) == 4
    assert "did you mean K_index_transposed" in capsys.readouterr().err
    assert main(["explain"]) == 0
    listing = capsys.readouterr().out
    assert all(entry.name in listing for entry in EVERYTHING)


def test_every_entry_explains_itself():
    for entry in EVERYTHING:
        text = explain(entry.name)
        assert entry.wrote in text
        assert len(entry.why) > 20
    assert "NumPy float64" in explain("wrong_dtype")


test_the_reference_as_someone_would_under_pytest = case_tests("relpos_np:attention_forward")


def test_under_pytest_a_wrong_port_fails_in_the_cases_that_differ(port):
    test = case_tests(f"{port}:without_mask")
    test("unmasked")
    with pytest.raises(pytest.fail.Exception, match="MISTAKE mask_ignored"):
        test("causal")


def test_a_verdict_that_is_not_pass_raises_with_the_whole_report():
    with pytest.raises(AssertionError, match=r"yours:    q_i \. k_j"):
        verify(as_attention(find("no_scale").change)).assert_ok()
