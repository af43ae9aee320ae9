"""nbgrader takes the solutions as its sources: it hands out, collects and grades them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from solutions import DIRECTORY, paths

from relpos_np.exercises.course import EXERCISES

pytest.importorskip("nbgrader", reason="nbgrader is for teachers: pip install nbgrader")

POINTS = len(EXERCISES)  # one each

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def programs():
    """The nbgrader of this environment, which calls its programs by name."""
    with pytest.MonkeyPatch.context() as patch:
        here = str(Path(sys.executable).parent)
        patch.setenv("PATH", here, prepend=os.pathsep)
        patch.setenv("PYTHONPATH", str(DIRECTORY.parent))
        patch.delenv("RELPOS_SEED", raising=False)
        yield


def nbgrader(course, *words):
    """Run it as a teacher does, in the folder of the course."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=course,
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


def with_cell(path, cell_id, source):
    """Change one cell of a notebook file."""
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if cell.id == cell_id).source = source
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which four students have handed in, graded."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(DIRECTORY / "solutions", course / "source" / "relpos",
                    ignore=shutil.ignore_patterns("*.json", ".*"))
    nbgrader(course, "generate_assignment", "relpos")
    handed_in = {
        "perfect": DIRECTORY / "solutions",
        "untouched": course / "release" / "relpos",
        "generated": DIRECTORY / "exercises",
        "mixed": course / "release" / "relpos",
    }
    for student, folder in handed_in.items():
        shutil.copytree(folder, course / "submitted" / student / "relpos",
                        ignore=shutil.ignore_patterns("*.json", ".*"))
    first = course / "submitted" / "mixed" / "relpos" / paths("solutions")[0].name
    with_cell(first, "exercise-1-2", "def clip(p, k):\n    return np.minimum(p, k)")
    with_cell(first, "exercise-1-3", "def table_row(p, k):\n    return p + k")
    with_cell(first, "check-1-1", 'print("I say it is right")')
    nbgrader(course, "autograde", "relpos")
    return course


def score(course, student):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission("relpos", student)
        assert submission.max_score == POINTS
        return submission.score


def test_the_perfect_solution_gets_full_marks(course):
    assert score(course, "perfect") == POINTS


@pytest.mark.parametrize("student", ["untouched", "generated"])
def test_the_untouched_notebook_gets_none(course, student):
    assert score(course, student) == 0


def test_a_wrong_answer_gets_none_and_a_check_cannot_be_talked_round(course):
    assert score(course, "mixed") == 1  # 1.3; 1.2 is wrong, and the check of 1.1 is put back


def test_what_is_handed_out_has_no_solution_in_it(course):
    released = sorted(Path(course / "release" / "relpos").glob("*.ipynb"))
    assert len(released) == len(paths("solutions"))
    for path in released:
        text = path.read_text()
        assert "SOLUTION" not in text
        assert "raise NotImplementedError()" in text
        assert "not yet" not in text
        assert "right:" not in text
