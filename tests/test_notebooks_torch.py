"""Lesson 10 shows PyTorch code as text: here the text is run, and judged as the lesson says."""

import re
import warnings
from pathlib import Path

import pytest

from relpos_np.verify import verify

nbformat = pytest.importorskip("nbformat", reason="the lessons need jupyter")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what another package says at import is not ours to fail on
    pytest.importorskip("torch", reason="torch is not installed: pip install 'relpos-np[peers]'")

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]
LESSON = Path(__file__).parent.parent / "notebooks" / "10-verify-an-implementation.ipynb"
NO_TABLE_PER_HEAD = ["per_head"]


@pytest.fixture(scope="module")
def text():
    """The lesson's prose, code blocks included."""
    cells = nbformat.read(LESSON, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def changes(text):
    """Pairs of an old and a new line."""
    (diff,) = blocks(text, "diff")
    lines = diff.splitlines()
    assert [line[0] for line in lines] == ["-", "+"] * (len(lines) // 2)
    return [(old[1:], new[1:]) for old, new in zip(lines[::2], lines[1::2], strict=True)]


def replaced(source, pairs):
    for old, new in pairs:
        assert source.count(f"{old}\n") == 1, f"this line is not in the recipe: {old}"
        source = source.replace(f"{old}\n", f"{new}\n")
    return source


def candidate_of(recipe, adapter):
    """The function that the lesson's adapter makes of a recipe."""
    namespace = {"verify": lambda candidate, **options: None}
    exec(compile(recipe, "recipe", "exec"), namespace)
    exec(compile(adapter, "adapter", "exec"), namespace)
    return namespace["candidate"]


def test_the_recipe_as_found_gets_the_verdict_that_the_lesson_prints(text):
    candidate = candidate_of(*blocks(text, "python"))
    report = verify(candidate, framework="torch", without=["per_head", "cross"])
    assert report.verdict == "CONVENTION"
    assert "K_index_transposed" in report.names
    assert "gives NaN" in str(report)


def test_with_mended_letters_the_queries_of_a_cache_are_still_misplaced(text):
    recipe, adapter = blocks(text, "python")
    (letters,) = (pair for pair in changes(text) if "Lqd" in pair[0])
    candidate = candidate_of(replaced(recipe, [letters]), adapter)
    report = verify(candidate, framework="torch", without=NO_TABLE_PER_HEAD)
    assert report.names == ("no_query_offset",)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_with_the_three_changes_it_passes_forward_and_gradients(text, dtype):
    recipe, adapter = blocks(text, "python")
    candidate = candidate_of(replaced(recipe, changes(text)), adapter)
    report = verify(candidate, framework="torch", dtype=dtype, without=NO_TABLE_PER_HEAD)
    report.assert_ok()
    assert "no gradients were given" not in str(report)


@pytest.mark.parametrize("left_out", range(3))
def test_none_of_the_three_changes_may_be_left_out(text, left_out):
    recipe, adapter = blocks(text, "python")
    some = [pair for number, pair in enumerate(changes(text)) if number != left_out]
    candidate = candidate_of(replaced(recipe, some), adapter)
    assert not verify(candidate, framework="torch", without=NO_TABLE_PER_HEAD).ok


def test_an_added_mask_is_caught_by_the_gradients_alone(text):
    recipe, adapter = blocks(text, "python")
    filled = 'scores = scores.masked_fill(~mask, float("-inf"))'
    added = 'scores = scores + torch.zeros_like(scores).masked_fill(~mask, float("-inf"))'
    indent = " " * 12
    pairs = [*changes(text), (indent + filled, indent + added)]
    candidate = candidate_of(replaced(recipe, pairs), adapter)
    report = verify(candidate, framework="torch", without=NO_TABLE_PER_HEAD)
    wrong = {(difference.case, difference.name) for difference in report.differences}
    assert ("fully_masked", "grad_query") in wrong
    assert "output" not in {name for _, name in wrong}
