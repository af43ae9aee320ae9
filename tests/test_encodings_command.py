"""The comparison of the encodings: what it claims, measured."""

import numpy as np
import pytest

from relpos_np.__main__ import main
from relpos_np.commands import encodings as command

NAMES = [entry.name for entry in command.entries()]
ABSOLUTE = ("sinusoidal", "learned absolute")


@pytest.mark.parametrize("name", NAMES)
def test_moving_the_same_content_changes_scores_of_absolute_encodings_only(name):
    change = command.moved_content(name)
    assert change > 0.1 if name in ABSOLUTE else change < 1e-12


def test_moving_nothing_changes_nothing_and_other_content_changes_everything():
    # The trap: with different vectors at the two places every encoding seems to depend on them.
    assert command.moved_content("sinusoidal", places=(3, 3)) == 0
    x = np.random.default_rng(1).normal(size=(1, 40, 16))
    logits = command.logits_by_name(x, np.random.default_rng(2))["RoPE"]
    assert np.abs(logits[..., 3:9, 3:9] - logits[..., 23:29, 23:29]).max() > 0.1


def test_without_positions_order_does_not_matter():
    x = np.random.default_rng(1).normal(size=(1, 9, 16))
    order = np.random.default_rng(2).permutation(9)
    straight = command.logits_by_name(x, np.random.default_rng(3))
    shuffled = command.logits_by_name(x[:, order], np.random.default_rng(3))
    for name, logits in straight.items():
        change = np.abs(logits[..., order, :][..., order] - shuffled[name]).max()
        assert change < 1e-12 if name == "none" else change > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_the_same_token_everywhere_makes_relative_scores_depend_on_the_distance(name):
    x = np.repeat(np.random.default_rng(1).normal(size=(1, 1, 16)), 12, axis=1)
    logits = np.tril(command.logits_by_name(x, np.random.default_rng(2))[name])
    along_diagonals = np.abs(logits[..., 1:, 1:] - logits[..., :-1, :-1]).max()
    assert along_diagonals > 0.1 if name in ABSOLUTE else along_diagonals < 1e-12


def test_the_command_prints_the_table(capsys):
    assert main(["encodings"]) == 0
    out = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in out.splitlines()[2:10]] == NAMES
    for fact in ("rows of -1, -10, -16", "buckets 1, 8, 15", "-0.5, -5, -50", "262,144", "4,224"):
        assert fact in out
    assert out.count("0 (rounding)") == 6


def test_the_figure_has_a_panel_per_encoding():
    (name, figure), = command.encoding_figures().items()
    assert name == "encodings_bias.png"
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == NAMES
