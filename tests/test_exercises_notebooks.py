"""The classroom notebooks: made from the solutions, and never a traceback in them."""

import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="the exercises are notebooks")

from solutions import DIRECTORY, functions, paths  # noqa: E402

from relpos_np.__main__ import main  # noqa: E402
from relpos_np.commands import exercises, notebooks  # noqa: E402
from relpos_np.exercises.course import EXERCISES, NOTEBOOKS  # noqa: E402
from relpos_np.exercises.words import WIDTH  # noqa: E402

SOLUTIONS = paths("solutions")
each_solution = pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(jupyter|zmq|nbclient|traitlets)"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_the_students_notebooks_are_what_would_be_generated(capsys):
    assert main(["exercises", "--check", "--directory", str(DIRECTORY)]) == 0
    assert "6 of 6 students' notebooks current" in capsys.readouterr().out


def test_every_exercise_stands_in_the_notebook_of_its_number_in_order():
    assert list(functions()) == [exercise.number for exercise in EXERCISES]
    assert len(SOLUTIONS) == len(NOTEBOOKS)
    for notebook, path in zip(NOTEBOOKS, SOLUTIONS, strict=True):
        numbers = re.findall(r'check\("(\d+)\.\d+"', path.read_text().replace("\\", ""))
        assert set(numbers) == {str(notebook)}


@each_solution
def test_a_fresh_kernel_finds_every_solution_right(path, monkeypatch):
    monkeypatch.delenv("RELPOS_SEED", raising=False)
    assert notebooks.differences(notebooks.read(path), exercises.executed(path)) == []


@each_solution
def test_the_metadata_are_those_that_nbgrader_wants(path):
    notebook = notebooks.read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" or cell.source == "progress()":
            assert "nbgrader" not in cell.metadata
            continue
        grader = cell.metadata["nbgrader"]
        is_check, is_solution = cell.source.startswith("check("), "SOLUTION" in cell.source
        assert (grader["grade"], grader["solution"]) == (is_check, is_solution)
        assert grader["locked"] == (not is_solution)
        assert grader["grade_id"] == cell.id
        assert ("points" in grader) == is_check


@pytest.mark.parametrize("path", paths("exercises"), ids=lambda path: path.stem)
def test_a_student_gets_blanks_and_no_outputs(path):
    text = path.read_text()
    assert "SOLUTION" not in text
    cells = [cell for _, cell in notebooks.code_cells(notebooks.read(path))]
    blanks = [cell for cell in cells if cell.id.startswith("exercise-")]
    assert len(blanks) == text.count("raise NotImplementedError  # your code")
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


def run_cells(cells, folder):
    """Run them as a student does, one after the other, going on after an error."""
    import nbclient

    notebook = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", allow_errors=True, coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute(env=notebooks.kernel_environment(str(folder)))
    return notebook.cells


@pytest.fixture(scope="module")
def wrong_notebook(tmp_path_factory):
    """The cells of a notebook that was solved wrongly in every way, after it has run."""
    sources = [
        "import numpy as np\nfrom relpos_np.exercises import check, hint, progress",
        # a known mistake, an unknown one, a shape, an error, nothing, warnings, no function
        'check("2.2", lambda query, a: np.einsum("bhqd,Lqd->bhqL", query, a))',
        'check("2.2", lambda query, a: np.einsum("bhid,ijd->bhij", query, a) + 3)',
        'check("2.2", lambda query, a: query)',
        "def scale(content, relative, head_dim):\n    both = content + relative\n"
        "    return both / heads_dim",
        'check("2.3", scale)',
        'check("2.4", lambda scores, mask: None)',
        'check("2.5", lambda scores: np.log(scores) / 0)',
        'check("2.5", 5)',
        'check("7.1", 5)',
        'check("6.4", lambda: {"query": 3})',
        "def blank(query, key):\n    raise NotImplementedError  # your code",
        'check("2.1", blank)',
        'hint("2.1")',
        "progress()",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return run_cells(cells, tmp_path_factory.mktemp("wrong"))


def test_wrong_answers_are_short_messages_and_no_traceback(wrong_notebook):
    checks = [cell for cell in wrong_notebook if cell.source.startswith("check(")]
    assert len(checks) == 10
    for cell in checks[:-1]:
        (output,) = cell.outputs
        assert (output.output_type, output.name) == ("stream", "stderr")
        lines = output.text.splitlines()
        assert re.match(r"\d\.\d not yet|no exercise", lines[0])
        assert len(lines) <= 9  # two lines of message, a grid of 4 x 4 with its labels, arguments
        assert max(map(len, lines)) <= WIDTH or lines[0].startswith("no exercise")
        assert "Traceback" not in output.text
        assert "site-packages" not in output.text
    assert "K_index" not in checks[0].outputs[0].text, "names of the catalogue are not for students"


def test_an_error_in_a_students_cell_is_quoted_with_its_line(wrong_notebook):
    (cell,) = (cell for cell in wrong_notebook if cell.source == 'check("2.3", scale)')
    first, second = cell.outputs[0].text.splitlines()[:2]
    assert first == "2.3 not yet: NameError in line 3, return both / heads_dim"
    assert second == "name 'heads_dim' is not defined"


def test_a_blank_is_an_error_of_one_line(wrong_notebook):
    (cell,) = (cell for cell in wrong_notebook if cell.source == 'check("2.1", blank)')
    (output,) = cell.outputs
    assert (output.output_type, output.ename) == ("error", "NotImplementedError")
    assert output.traceback == [
        "NotImplementedError: 2.1 is not written yet: content logits"]


def test_an_untouched_notebook_stops_at_its_first_blank(tmp_path):
    import nbclient

    notebook = notebooks.read(paths("exercises")[0])
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(nbclient.exceptions.CellExecutionError, match=r"1\.1 is not written yet"):
        client.execute(env=notebooks.kernel_environment(str(tmp_path)))
    ran = [cell.id for _, cell in notebooks.code_cells(notebook) if cell.execution_count]
    assert ran == ["setup", "exercise-1-1", "check-1-1"]


# ---- the command -------------------------------------------------------------------------------


def one_solution(directory, source):
    """A folder with one solution notebook in it."""
    (directory / "solutions").mkdir()
    cell = nbformat.v4.new_code_cell(source, id="exercise-1-1")
    notebooks.write(nbformat.v4.new_notebook(cells=[cell]), directory / "solutions" / "01-a.ipynb")
    return ["exercises", "--directory", str(directory)]


SOURCE = "def f(x):\n    ### BEGIN SOLUTION\n    y = 2 * x\n    return y\n    ### END SOLUTION"


def test_a_stale_or_edited_notebook_is_named(tmp_path, capsys):
    command = one_solution(tmp_path, SOURCE)
    assert main([*command, "--check"]) == 1
    assert main([*command, "--generate"]) == 0
    assert main([*command, "--check"]) == 0
    student = tmp_path / "exercises" / "01-a.ipynb"
    (cell,) = notebooks.read(student).cells
    assert cell.source == "def f(x):\n    raise NotImplementedError  # your code"
    student.write_text(student.read_text().replace("your code", "mine"))
    assert main([*command, "--check"]) == 1
    student.rename(student.with_name("02-b.ipynb"))
    capsys.readouterr()
    assert main([*command, "--check"]) == 1
    said = capsys.readouterr().err
    assert "01-a.ipynb is not what its solution gives" in said
    assert "02-b.ipynb has no solution" in said


@pytest.mark.parametrize("broken", [
    SOURCE.replace("### END SOLUTION", ""), SOURCE.replace("### BEGIN SOLUTION", ""),
    SOURCE.replace("### END SOLUTION", "# END SOLUTION"),
])
def test_a_solution_whose_markers_do_not_pair_is_not_handed_out(tmp_path, broken, capsys):
    command = one_solution(tmp_path, broken)
    assert main([*command, "--generate"]) == 1
    assert "cell 1: ### BEGIN SOLUTION and ### END SOLUTION" in capsys.readouterr().err
    assert list((tmp_path / "exercises").glob("*")) == []


def test_a_solution_that_is_wrong_is_not_refreshed(tmp_path, capsys):
    command = one_solution(
        tmp_path, 'from relpos_np.exercises import check\ncheck("1.3", lambda p, k: p)')
    assert main([*command, "--refresh"]) == 1
    assert "writes to stderr: 1.3 not yet. You have: clip(j - i, -k, k)" in capsys.readouterr().err


def test_a_folder_without_solutions_is_told(tmp_path, capsys):
    assert main(["exercises", "--check", "--directory", str(tmp_path)]) == 2
    assert "--directory" in capsys.readouterr().err
