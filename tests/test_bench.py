"""The bench compares like with like, counts right, and says what it could not measure."""

import importlib.util
import json
from types import SimpleNamespace

import numpy as np
import pytest

from relpos_np import attention_backward, attention_forward
from relpos_np.__main__ import main
from relpos_np.commands.benching import contestants, measure, memory, report, timing
from relpos_np.commands.benching.problem import Problem, make_inputs

SMALL = Problem(length=9, num_heads=2, head_dim=4, max_relative_position=3, dtype="float64")


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(contestants.importlib.util, "find_spec", lambda name: None)


def assert_same_function(entry, problem):
    """Output and gradients of a contestant are those of the einsum form with its tables."""
    inputs = make_inputs(problem)
    used = {"K and V": (0, 1), "K": (0,), "none": ()}[entry.terms]
    tables = [table if n in used else None for n, table in enumerate(inputs[3:5])]
    expected, cache = attention_forward(*inputs[:3], *tables, mask=inputs.mask)
    forward, both = entry.prepare(inputs)
    np.testing.assert_allclose(forward(), expected, rtol=0, atol=1e-12)
    output, grads = both()
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)
    for got, want in zip(grads or (), attention_backward(inputs.grad_output, cache), strict=False):
        if want is not None:
            np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("entry", contestants.numpy_ladder(), ids=lambda entry: entry.name)
def test_every_rung_computes_what_is_compared(entry, causal):
    assert_same_function(entry, SMALL._replace(causal=causal))


@pytest.mark.peers
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("k", [0, 3, 20])
def test_every_form_in_torch_computes_what_is_compared(causal, k):
    pytest.importorskip("torch")
    from relpos_np.commands.benching.torch_peers import peers

    for entry in peers():
        assert_same_function(entry, SMALL._replace(causal=causal, max_relative_position=k))


def test_torch_takes_part_if_it_is_there(monkeypatch):
    names = [entry.name for entry in contestants.contestants()]
    assert any("torch" in name for name in names) == bool(importlib.util.find_spec("torch"))
    monkeypatch.setattr(contestants.importlib.util, "find_spec", lambda name: object())
    assert sum("torch" in entry.name for entry in contestants.contestants()) == 6
    assert names[0] == contestants.TILED


def test_a_contestant_that_computes_something_else_is_not_timed():
    inputs = make_inputs(SMALL)
    entrants = contestants.numpy_ladder()
    calls = {entry.name: entry.prepare(inputs) for entry in entrants}
    measure.check_agreement(calls, entrants, "float64")
    calls["skew"] = (lambda: calls["einsum"][0]() + 1e-9, None)
    with pytest.raises(ArithmeticError, match=r"skew and tiled differ by 1\.0e-09"):
        measure.check_agreement(calls, entrants, "float64")


def test_ratios_are_taken_round_by_round(monkeypatch):
    """Round r takes r times as long for everybody: times differ, ratios do not."""
    clock = iter([(9, 9), (9, 9)] + [t for r in (1, 2, 5) for t in ((r, 2 * r), (3 * r, 4 * r))])
    times = iter([time for pair in clock for time in pair])
    monkeypatch.setattr(timing, "seconds", lambda call: next(times))
    result = timing.time_by_turns({"one": (None, None), "two": (None, None)}, 3, budget=1e9)
    assert result["one"] == timing.Timing(2, 4, 1, 1, 3)
    assert result["two"] == timing.Timing(6, 8, 3, 2, 3)


@pytest.mark.parametrize(("takes", "times"), [(1, 5), (3, 2), (7, 1)])
def test_a_short_call_is_repeated_and_a_long_one_is_not(monkeypatch, takes, times):
    now, slept, calls = [100], [], []
    monkeypatch.setattr(timing, "time", SimpleNamespace(
        perf_counter=lambda: now[0], sleep=slept.append,
    ))
    monkeypatch.setattr(timing, "SHORTEST", 5)

    def call():
        calls.append(list(slept))
        now[0] += takes

    assert timing.seconds(call) == takes
    assert calls == [[timing.PAUSE]] * times  # one pause, before the first


def test_a_slow_contestant_runs_once_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(timing, "seconds", lambda call: call)
    result = timing.time_by_turns({"fast": (1, 2), "slow": (50, 60)}, 4, budget=100)
    assert result["slow"] == timing.Timing(50, 60, 50, 30, 1)
    assert result["fast"].rounds == 4


def test_what_would_take_too_long_is_left_out():
    assert measure.affordable("einsum", 512, {})
    assert not measure.affordable("naive", 512, {})
    assert measure.affordable("einsum", 1024, {"einsum": (512, 4.0)})
    assert not measure.affordable("einsum", 2048, {"einsum": (512, 4.0)})


@pytest.mark.skipif(not memory.can_measure(), reason="only Linux can reset the mark")
def test_memory_growth_is_what_a_call_allocates():
    assert 15 * 2**20 < memory.growth(lambda: np.ones(2**21)) < 20 * 2**20
    grown, given_back = memory.growth(lambda: np.ones(2**22).sum()), memory.growth(lambda: None)
    assert grown > 30 * 2**20
    assert given_back < 2**20


@pytest.mark.skipif(not memory.can_measure(), reason="only Linux can reset the mark")
def test_a_fresh_process_answers():
    forward, both = memory.peak_memory("gather", SMALL._replace(length=300), threads=1)
    assert 2 * 300 * 300 * 8 < forward < 1.1 * both < 2**25


def test_where_memory_cannot_be_measured_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(memory, "can_measure", lambda: False)
    assert memory.peak_memory("tiled", SMALL, 1) is None
    measurement = measure.measure(SMALL, [4], threads=1, rounds=1, budget=5.0)
    (line,) = (line for line in report.table(measurement, "4") if line.startswith("  skew"))
    assert line.split()[-2:] == ["-", "-"]
    assert list(report.bench_figures(measurement)) == ["bench_time.svg"]


def test_the_command_measures_prints_and_writes(tmp_path, capsys, without_torch):
    written = tmp_path / "bench.json"
    arguments = ["--heads", "2", "--head-dim", "4", "--k", "2", "--rounds", "1", "--threads", "1"]
    assert main([
        "bench", "--length", "6", "3", *arguments, "--no-memory", "--causal",
        "--json", str(written), "--output", str(tmp_path),
    ]) == 0
    out = capsys.readouterr().out
    assert "batch 1, 2 heads, head_dim 4, k = 2, float32, causal; 1 thread;" in out
    assert out.index("length 3") < out.index("length 6")
    assert out.count("relative over plain in the same tiling, one thread") == 2
    measurement = json.loads(written.read_text())
    assert list(measurement["lengths"]) == ["3", "6"]
    assert set(measurement["lengths"]["6"]) == {e.name for e in contestants.numpy_ladder()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench.json", "bench_time.svg"]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--length", "0"], "0 is too few"),
    (["--k", "-1"], "-1 is less than 0"),
    (["--heads", "two"], "invalid positive value: 'two'"),
    (["--dtype", "float16"], "invalid choice"),
])
def test_bad_arguments_are_refused_in_words(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["bench", *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
