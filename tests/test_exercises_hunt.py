"""Find the bug: inputs that show it pass, the usual blind inputs are told why they do not."""

import numpy as np
import pytest

pytest.importorskip("nbformat", reason="the exercises are notebooks")

from inputs import random_inputs
from solutions import functions

from relpos_np.exercises import blind, check, handed_out
from relpos_np.exercises.bugs import HUNTS
from relpos_np.exercises.hunt import chosen, judge_hunt
from relpos_np.exercises.words import WIDTH

SOLUTIONS = functions()
each_hunt = pytest.mark.parametrize("hunt", HUNTS, ids=lambda hunt: hunt.number)


def seed_of(hunt, suspect):
    """A seed that hands out this mistake."""
    return next(str(n) for n in range(1000) if chosen(hunt, str(n)).name == suspect)


def usual_inputs(hunt, **sizes):
    """Random inputs and, in a backward hunt, a random upstream gradient."""
    rng = np.random.default_rng(3)
    inputs = random_inputs(rng, **sizes)
    query, value = inputs["query"], inputs["value"]
    if hunt.backward:
        inputs["grad_output"] = rng.normal(size=(*query.shape[:3], value.shape[3]))
    return inputs


@each_hunt
def test_the_solution_shows_every_suspect_that_can_be_handed_out(hunt):
    for suspect in hunt.suspects:
        right, lines = judge_hunt(hunt, SOLUTIONS[hunt.number], seed_of(hunt, suspect))
        assert right, suspect
        assert lines[0].startswith(f"{hunt.number} right, it shows. The mistake: ")
        assert all(0 < len(line) <= WIDTH for line in lines)


# Inputs that hide all suspects of a hunt, and the blind spot that must be told.
HIDING = [
    ("6.4", {}, "no_mask"),
    ("6.5", {"query_len": 2}, "nothing_clipped"),
    ("6.6", {}, "from_zero"),
    ("6.7", {}, "small_scores"),
    ("6.8", {"query_len": 1}, "one_key"),
]


@pytest.mark.parametrize(("number", "sizes", "spot"), HIDING, ids=lambda part: str(part))
def test_inputs_that_hide_the_bug_are_told_why(number, sizes, spot):
    hunt = next(hunt for hunt in HUNTS if hunt.number == number)
    told = set()
    for suspect in hunt.suspects:
        right, lines = judge_hunt(
            hunt, lambda: usual_inputs(hunt, **sizes), seed_of(hunt, suspect))
        if not right:
            told.add(lines[1])
            assert "on these inputs the suspect gives the right numbers" in lines[0]
            assert all(0 < len(line) <= WIDTH for line in lines)
    assert told == {blind.SPOTS[spot][1]}


def altered(**changes):
    inputs = random_inputs(np.random.default_rng(3), value_dim=6)
    grad_output = changes.pop("grad_output", None)
    mask = changes.pop("mask", None)
    return grad_output, tuple((inputs | changes).values()), {"mask": mask, "query_start": None}


zeros, ones = np.zeros((5, 6)), np.ones((2, 3, 7, 6))
mirrored = np.abs(np.arange(-2, 3))[:, np.newaxis] * np.ones(6)
both = ("relative_key_table", "relative_value_table")


@pytest.mark.parametrize(("spot", "changes"), [
    ("zero_tables", dict.fromkeys(both, zeros)),
    ("equal_rows", dict.fromkeys(both, zeros + 2)),
    ("symmetric_tables", dict.fromkeys(both, mirrored)),
    ("equal_weights", {"query": 0 * ones}),
    ("constant", {"query": ones, "key": ones, "value": ones}),
    ("constant_upstream", {"grad_output": ones}),
    ("no_mask", {"mask": np.ones((7, 7), dtype=bool)}),
    ("rows_alike", {}),
    ("small_scores", {}),
])
def test_a_blind_spot_is_told_and_only_where_it_is(spot, changes):
    grad_output, arrays, options = altered(**changes)
    assert blind.spot([spot], grad_output, arrays, options) == blind.SPOTS[spot][1]
    seeing = {"query": ones * np.random.default_rng(1).normal(size=(2, 3, 7, 1)) * 2000,
              "grad_output": np.arange(3), "mask": np.tri(7, dtype=bool)}
    told = blind.spot([spot], *altered(**seeing))
    assert told == "None of the usual blind spots; try inputs of another kind."


@pytest.mark.parametrize(("make_inputs", "said"), [
    (lambda: None, "your function must return a dict, it returns a NoneType"),
    (lambda: {"query": 1}, "the dict has no key, value"),
    (lambda: random_inputs(np.random.default_rng(0)) | {"masks": 1}, "nothing takes masks"),
    (lambda: random_inputs(np.random.default_rng(0)) | {"query_start": 1.5}, "query_start must"),
    (lambda: 1 / 0, "division by zero"),
    (0, "check needs your function itself"),
])
def test_inputs_that_cannot_be_used_are_told_why_not(make_inputs, said):
    right, lines = judge_hunt(HUNTS[0], make_inputs, "0")
    assert not right
    assert lines[0] == "6.4 not yet: these inputs cannot be used"
    assert said in lines[1]
    assert all(len(line) <= WIDTH for line in lines)


def test_what_is_handed_out_depends_on_the_seed_and_is_called_like_the_library(monkeypatch):
    inputs = random_inputs(np.random.default_rng(0)) | {"mask": np.tri(7, dtype=bool)}
    outputs = []
    for seed in map(str, range(12)):
        monkeypatch.setenv("RELPOS_SEED", seed)
        outputs.append(handed_out("6.4")(**inputs).round(6).tobytes())
    assert len(set(outputs)) == len(HUNTS[0].suspects)


def test_a_hunt_that_is_not_solved_is_never_green(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    blanks = functions("exercises")
    capsys.readouterr()
    for hunt in HUNTS:
        with pytest.raises(NotImplementedError, match=f"^{hunt.number} is not written yet"):
            check(hunt.number, blanks[hunt.number])
    assert capsys.readouterr().out == ""
