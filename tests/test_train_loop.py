"""Runs: the same bits for the same seed, through interrupts, and on disk."""

import json
import signal
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from relpos_np.__main__ import main
from relpos_np.train import loop
from relpos_np.train.checkpoint import checkpoint_path, load_checkpoint, save_checkpoint
from relpos_np.train.evaluate import evaluate, evaluation_batches
from relpos_np.train.loop import start, train, train_step
from relpos_np.train.published import EXPERIMENTS, published_scores, settings_of
from relpos_np.train.run import run
from relpos_np.train.setting import Setting, complete, setting_name
from relpos_np.train.task import TASKS

SHORT = Setting("copy", k=2, steps=8)


def assert_same_bits(left, right):
    """Two states agree to the last bit, dtypes included."""
    assert left.adam.step == right.adam.step
    assert left.losses.tobytes() == right.losses.tobytes()
    for one, other in (
        (left.parameters, right.parameters), (left.adam.mean, right.adam.mean),
        (left.adam.square, right.adam.square),
    ):
        assert one.keys() == other.keys()
        for name in one:
            assert one[name].dtype == other[name].dtype
            assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_bits(task):
    setting = Setting(task, k=3, steps=3)
    assert_same_bits(
        train(setting, 7, progress=False), train(setting, 7, progress=False)
    )


def test_another_seed_gives_other_numbers():
    one, other = (train(SHORT, seed, progress=False) for seed in (0, 1))
    assert not np.array_equal(one.losses, other.losses)


def test_training_lowers_the_loss():
    state = train(Setting("copy", k=4, steps=60), 0, progress=False)
    assert state.losses[-5:].mean() < 0.8 * state.losses[:5].mean()


def test_a_step_leaves_the_state_before_it_alone():
    before = start(SHORT, 0)
    copy = {name: array.copy() for name, array in before.parameters.items()}
    train_step(SHORT, 0, before)
    for name, array in copy.items():
        np.testing.assert_array_equal(before.parameters[name], array)


def test_every_encoding_sees_the_same_batches():
    batches = [loop.batch_of_step(Setting("text", encoding), 3, 9) for encoding in ("none", "shaw")]
    np.testing.assert_array_equal(batches[0].tokens, batches[1].tokens)


@pytest.mark.parametrize("stop_after", [0, 1, 5])
def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path, monkeypatch, stop_after):
    whole = train(SHORT, 0, progress=False)
    calls = []

    def interrupted(setting, seed, state):
        if len(calls) == stop_after:
            raise KeyboardInterrupt
        calls.append(1)
        return train_step(setting, seed, state)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "train_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(SHORT, 0, tmp_path, progress=False)
    path = checkpoint_path(tmp_path, SHORT, 0)
    assert load_checkpoint(path, SHORT, 0)[0].adam.step == stop_after
    scores = run(SHORT, 0, tmp_path, progress=False)
    state, stored = load_checkpoint(path, SHORT, 0)
    assert_same_bits(state, whole)
    assert stored == scores == evaluate(SHORT, whole.parameters)


def test_a_finished_run_is_read_not_trained_again(tmp_path, monkeypatch):
    scores = run(SHORT, 0, tmp_path, progress=False)
    monkeypatch.setattr(loop, "train_step", None)
    assert run(SHORT, 0, tmp_path, progress=False) == scores


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    state = train(SHORT, 0, progress=False)
    path = checkpoint_path(tmp_path, SHORT, 0)
    save_checkpoint(path, SHORT, 0, state)

    def torn(file, **arrays):
        file.write(b"half a fi")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", torn)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(path, SHORT, 0, start(SHORT, 0))
    assert_same_bits(load_checkpoint(path, SHORT, 0)[0], state)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"not a file of arrays"])
def test_a_file_that_is_no_checkpoint_is_refused_in_words(tmp_path, content):
    path = checkpoint_path(tmp_path, SHORT, 0)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not a checkpoint .* remove it"):
        run(SHORT, 0, tmp_path, progress=False)


def test_another_run_under_this_name_is_refused(tmp_path):
    path = checkpoint_path(tmp_path, SHORT, 0)
    save_checkpoint(path, SHORT, 1, start(SHORT, 1))
    with pytest.raises(ValueError, match="'seed': 1"):
        load_checkpoint(path, SHORT, 0)


@pytest.mark.parametrize(("setting", "message"), [
    (Setting("coppy"), "task must be one of"),
    (Setting(encoding="rotary"), "encoding must be one of"),
    (Setting(encoding="none", k=3), "belong to encoding 'shaw'"),
    (Setting(k=-1), "k must be at least 0, got -1"),
    (Setting(layers=0), "layers must be at least 1, got 0"),
])
def test_a_setting_that_is_none_is_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        complete(setting)


def test_beyond_the_training_length_only_new_positions_of_text_count():
    batch = next(evaluation_batches(Setting("text"), 256))
    assert not batch.scored[:, :32].any()
    assert batch.scored[:, 32:].any()


def test_the_test_sequences_are_the_same_each_time():
    one, other = (next(evaluation_batches(Setting("order"), 16)) for _ in range(2))
    np.testing.assert_array_equal(one.tokens, other.tokens)


def command(*words):
    return [sys.executable, "-m", "relpos_np", "train", *words]


def test_a_killed_command_goes_on_to_the_numbers_of_one_that_was_not(tmp_path):
    words = ("--task", "parity", "--k", "1", "--steps", "200", "--runs", str(tmp_path))
    process = subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True)
    bar = ""
    while bar.count("it/s") < 2:  # the second bar shows the first steps done
        bar += process.stderr.read(1)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate()
    assert process.returncode == 130, error
    assert "the same command goes on there" in error
    setting = Setting("parity", k=1, steps=200)
    path = checkpoint_path(tmp_path, setting, 0)
    stopped_at = load_checkpoint(path, setting, 0)[0].adam.step
    assert 0 < stopped_at < 200
    whole = train(setting, 0, progress=False)
    run(setting, 0, tmp_path, progress=False)
    assert_same_bits(load_checkpoint(path, setting, 0)[0], whole)


def test_the_command_prints_and_writes_all_seeds(tmp_path, capsys):
    table = tmp_path / "scores.json"
    assert main([
        "train", "--task", "reversal", "--encoding", "learned", "--steps", "2", "--seeds", "2",
        "--runs", str(tmp_path / "runs"), "--json", str(table),
    ]) == 0
    assert "reversal-learned-steps2" in capsys.readouterr().out
    scores = json.loads(table.read_text())["scores"]["reversal-learned-steps2"]
    assert {length: len(numbers) for length, numbers in scores.items()} == {
        "12": 2, "16": 2, "20": 2, "32": 2
    }


@pytest.mark.parametrize(("words", "message"), [
    (["--encoding", "none", "--k", "2"], "leave them out"),
    (["--seed", "-1"], "--seed must be at least 0, got -1"),
    (["--seeds", "0"], "--seeds must be at least 1, got 0"),
])
def test_the_command_refuses_in_words(capsys, tmp_path, words, message):
    assert main(["train", *words, "--runs", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_gives_the_signal_back(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    main(["train", "--task", "parity", "--steps", "1", "--runs", str(tmp_path)])
    assert signal.getsignal(signal.SIGTERM) is before


def test_names_of_settings_are_unique():
    listed = {complete(s) for settings in EXPERIMENTS.values() for s in settings}
    assert len(settings_of()) == len(listed) == len({setting_name(s) for s in listed})


def test_the_published_table_names_the_command_that_makes_it():
    table = files("relpos_np.data") / "experiments.json"
    command = json.loads(table.read_text(encoding="utf-8"))["command"]
    assert command == "python -m relpos_np train --seeds 5 --json relpos_np/data/experiments.json"


def test_the_published_table_holds_five_seeds_of_every_setting():
    scores = published_scores()
    assert scores.keys() == settings_of().keys()
    for name, setting in settings_of().items():
        assert tuple(scores[name]) == TASKS[setting.task].test_lengths
        assert {len(seeds) for seeds in scores[name].values()} == {5}
