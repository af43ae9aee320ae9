"""The lessons show what they would show today, and the check that says so can fail."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the lessons need jupyter")

from relpos_np.__main__ import main  # noqa: E402
from relpos_np.commands import notebooks  # noqa: E402

DIRECTORY = Path(__file__).parent.parent / "notebooks"
LESSONS = sorted(DIRECTORY.glob("[0-9]*.ipynb"))
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


@each_lesson
def test_a_fresh_kernel_shows_what_is_committed(lesson):
    committed = notebooks.read(lesson)
    assert notebooks.differences(committed, notebooks.execute(lesson)) == []


@each_lesson
def test_the_file_is_what_refresh_would_write(lesson):
    text = lesson.read_text(encoding="utf-8")
    notebook = notebooks.read(lesson)
    nbformat.validate(notebook)
    notebooks.normalise(notebook)
    assert nbformat.writes(notebook) + "\n" == text
    executed = [cell.execution_count for _, cell in notebooks.code_cells(notebook)]
    assert executed == list(range(1, len(executed) + 1)), "committed outputs are of one run"


@each_lesson
def test_a_lesson_keeps_to_the_conventions(lesson):
    cells = notebooks.read(lesson).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert 20 <= len(cells) <= 35
    assert cells[0].source.startswith(f"# {int(lesson.stem[:2])}. ")
    opening, closing = cells[0].source, cells[-1].source
    assert "You will be able to" in opening
    assert 1 <= len(re.findall(r"^- ", opening, re.MULTILINE)) <= 3
    for heading in ("In your own words", "Exercises", "Further reading"):
        assert f"**{heading}**" in closing
    too_long = [source for source in code if len(source.splitlines()) > 12]
    assert too_long == []
    checks = [source for source in code if "assert" in source or "pytest.raises" in source]
    assert len(checks) >= 4
    everything = "\n".join(code)
    assert len(re.findall(r"default_rng\(", everything)) <= 1
    assert not re.search(r"^\s*[!%]|https?://", everything, re.MULTILINE)


def lesson_of(*sources, directory, tags=()):
    """A small notebook file with these code cells."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source, id=f"cell-{n}", metadata={"tags": list(tags)})
            for n, source in enumerate(sources)
        ]
    )
    path = directory / "01-small.ipynb"
    notebooks.write(notebook, path)
    return path


FIGURE_AND_SLIDER = """
import ipywidgets
from relpos_np import relative_position_matrix
from relpos_np.plots import position_figure
ipywidgets.interact(lambda n: position_figure(relative_position_matrix(n)), n=(1, 5))
position_figure(relative_position_matrix(4))
"""


PROGRESS_BAR = """
from tqdm import tqdm
for _ in tqdm(range(3), disable=False, leave=False): pass
"""


def test_refreshing_twice_changes_nothing(tmp_path, capsys):
    path = lesson_of("print(6 * 7)", FIGURE_AND_SLIDER, PROGRESS_BAR, directory=tmp_path)
    command = ["notebooks", "--directory", str(tmp_path)]
    assert main([*command, "--refresh"]) == 0
    once = path.read_bytes()
    assert main([*command, "--refresh", "01"]) == 0
    assert path.read_bytes() == once
    assert b"42" in once
    assert b"image/png" in once
    assert b"widget" not in once.replace(b"ipywidgets", b"")
    assert b"stderr" not in once
    assert main([*command, "--check"]) == 0
    assert "1 of 1 lessons right" in capsys.readouterr().out
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_output_that_is_no_longer_true_is_named(tmp_path, capsys):
    path = lesson_of("print(6 * 7)", directory=tmp_path)
    command = ["notebooks", "--directory", str(tmp_path)]
    main([*command, "--refresh"])
    path.write_text(path.read_text().replace("42", "41"))
    assert main([*command, "--check"]) == 1
    assert "cell 1 shows [(['stream'], '42\\n')], committed is" in capsys.readouterr().err


def test_a_picture_that_is_missing_is_a_difference(tmp_path):
    path = lesson_of(FIGURE_AND_SLIDER, directory=tmp_path)
    executed = notebooks.execute(path)
    (problem,) = notebooks.differences(notebooks.read(path), executed)
    assert "image/png" in problem


def test_a_lesson_that_fails_is_named_and_left_alone(tmp_path, capsys):
    path = lesson_of("1 / 0", directory=tmp_path)
    before = path.read_bytes()
    assert main(["notebooks", "--directory", str(tmp_path), "--refresh"]) == 1
    assert "ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        (("stderr", "UserWarning: careful"), "cell 1 writes to stderr: UserWarning"),
        (("stdout", "<object at 0x7f31c1d0>"), "cell 1 prints an address or a path: 0x7f"),
        (("stdout", "/usr/lib/site-packages/numpy"), "cell 1 prints an address or a path: site"),
    ],
)
def test_output_that_cannot_be_repeated_is_refused(output, complaint):
    name, text = output
    cell = nbformat.v4.new_code_cell(
        outputs=[nbformat.v4.new_output("stream", name=name, text=text)]
    )
    with pytest.raises(RuntimeError, match=complaint):
        notebooks.refuse_unstable(nbformat.v4.new_notebook(cells=[cell]))


def test_figures_of_one_machine_are_kept(tmp_path):
    path = lesson_of("import time; time.perf_counter()", directory=tmp_path, tags=["measured"])
    notebooks.write(notebooks.execute(path), path)
    committed = notebooks.read(path)
    assert notebooks.differences(committed, notebooks.execute(path)) == []
    assert notebooks.execute(path) == committed


def test_a_wrong_name_is_told_the_right_ones(tmp_path, capsys):
    assert main(["notebooks", "--directory", str(tmp_path), "--check"]) == 2
    assert "no lessons in" in capsys.readouterr().err
    lesson_of("1", directory=tmp_path)
    assert main(["notebooks", "--directory", str(tmp_path), "--check", "13"]) == 2
    assert "no lesson '13'" in capsys.readouterr().err
