"""The doors, opened as a user opens them."""

import subprocess
import sys

import numpy as np
import pytest

from relpos_np.__main__ import main
from relpos_np.commands import tour


def test_the_tour_compares_everything_within_its_limits_and_says_what_is_seen(capsys, tmp_path):
    assert main(["tour", "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.count(" ok\n") == 6
    assert "TOO LARGE" not in out
    assert "Layer 0, head 0, looks at its neighbours" in out
    assert "Layer 3, head 0, looks away from its neighbours" in out
    assert "double loop" in err  # the progress bar
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "voice_bias.png", "voice_bias_tokens.svg", "voice_weights.png",
    ]


def test_a_difference_beyond_its_limit_fails_the_tour(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tour, "WEIGHTS_LIMIT", 1e-9)
    assert main(["tour", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().out.count("TOO LARGE") == 2


def test_what_is_not_a_number_is_not_within_a_limit(capsys):
    cache = tour.recompute(tour.load_voice().layers[0])
    lost = cache._replace(output=np.full_like(cache.output, np.nan))
    assert np.isnan(tour.compare_with_double_loop(lost).seen)


@pytest.mark.parametrize("command", ["tour", "figures"])
def test_a_folder_that_cannot_be_is_refused_before_the_work(command, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for output in (str(tmp_path / "file" / "below"), str(tmp_path / "file"), ""):
        with pytest.raises(SystemExit) as stop:
            main([command, "--output", output])
        assert stop.value.code == 2
    assert "cannot make the folder" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_one_line_and_exit_2(tmp_path, capsys):
    (tmp_path / "relative_position.svg").mkdir()
    assert main(["figures", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["relative_position.svg"]


def test_every_figure_is_redrawn_byte_for_byte(tmp_path, capsys):
    for folder in ("first", "second"):
        assert main(["figures", "--output", str(tmp_path / folder)]) == 0
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        for folder in ("first", "second")
    )
    assert first == second
    assert len(first) >= 6


def test_python_m_and_the_help_text_work():
    shown = subprocess.run(
        [sys.executable, "-m", "relpos_np", "--help"], capture_output=True, text=True, check=True
    )
    assert "tour" in shown.stdout


def test_an_unknown_command_exits_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["turn"])
    assert stop.value.code == 2
    assert "tour" in capsys.readouterr().err
