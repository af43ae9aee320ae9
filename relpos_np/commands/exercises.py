"""The classroom notebooks: what students get is made from the solutions, never edited.

A solution stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION``, the markers that
nbgrader reads too; the cells carry nbgrader's metadata.
"""

import re
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm

from relpos_np.commands import notebooks

SUMMARY = "make the students' notebooks from the solutions, or check that they are current"

SOLUTION = re.compile(
    r"^(?P<indent>[ ]*)### BEGIN SOLUTION\n.*?^[ ]*### END SOLUTION$", re.DOTALL | re.MULTILINE)
BLANK = r"\g<indent>raise NotImplementedError  # your code"


def add_arguments(parser):
    """Options of the command."""
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--generate", action="store_true",
                        help="write the students' notebooks")
    action.add_argument("--check", action="store_true",
                        help="exit code 1 if a student's notebook is not what would be generated")
    action.add_argument("--refresh", action="store_true",
                        help="run the solutions in fresh kernels, keep their outputs, generate")
    action.add_argument("--mistakes", action="store_true",
                        help="make every known mistake in every exercise and count what is named")
    parser.add_argument("--directory", type=Path, default=Path("notebooks"), metavar="DIR",
                        help="where solutions/ and exercises/ are (default: %(default)s)")


def run(arguments):
    """Generate, check or refresh: 0 if all is well, 1 if not, 2 if there are no solutions."""
    if arguments.mistakes:
        return count_mistakes()
    solutions = sorted((arguments.directory / "solutions").glob("*.ipynb"))
    if not solutions:
        print(f"no notebooks in {arguments.directory / 'solutions'}: name the folder above it "
              f"with --directory", file=sys.stderr)
        return 2
    try:
        if arguments.check:
            return check(solutions)
        if arguments.refresh:
            for path in tqdm(solutions, desc="refresh", unit="notebook"):
                notebooks.write(executed(path), path)
        made = {student_path(path): for_students(notebooks.read(path)) for path in solutions}
    except (RuntimeError, TimeoutError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    for path, notebook in made.items():
        path.parent.mkdir(exist_ok=True)
        notebooks.write(notebook, path)
    print(f"{len(made)} notebooks written to {arguments.directory / 'exercises'}")
    return 0


def check(solutions):
    """Compare the students' notebooks with the solutions that they come from."""
    stale = [path.name for path in solutions if not student_path(path).exists()
             or notebooks.read(student_path(path)) != for_students(notebooks.read(path))]
    names = {path.name for path in solutions}
    orphans = [path.name for path in student_path(solutions[0]).parent.glob("*.ipynb")
               if path.name not in names]
    for name in stale:
        print(f"{name} is not what its solution gives: relpos-np exercises --generate",
              file=sys.stderr)
    for name in orphans:
        print(f"{name} has no solution: remove it", file=sys.stderr)
    print(f"{len(solutions) - len(stale)} of {len(solutions)} students' notebooks current")
    return 1 if stale or orphans else 0


def count_mistakes():
    """Print the grid of exercises and mistakes."""
    from relpos_np.exercises.course import WRITTEN
    from relpos_np.exercises.gate import grid, verdicts

    print(grid((exercise, verdicts(exercise))
               for exercise in tqdm(WRITTEN, desc="mistakes", unit="exercise")))
    return 0


def student_path(solution):
    """Where the student's version of a solution stands."""
    return solution.parent.parent / "exercises" / solution.name


def for_students(solution):
    """The notebook with its solutions taken out: no outputs, and a blank that raises.

    Raises
    ------
    ValueError
        If a marker has lost its partner, so that a solution would be handed out.
    """
    notebook = solution.copy()
    notebook.cells = [cell.copy() for cell in solution.cells]
    for number, cell in notebooks.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        cell.source = SOLUTION.sub(BLANK, cell.source)
        if "BEGIN SOLU" in cell.source or "END SOLU" in cell.source:
            raise ValueError(f"cell {number}: ### BEGIN SOLUTION and ### END SOLUTION must pair")
    return notebook


def executed(path):
    """The solution with the outputs of a fresh kernel; its cells keep nbgrader's metadata.

    It runs in a folder of its own, where no earlier progress is kept.

    Raises
    ------
    RuntimeError
        If a cell raises or a check is not passed.
    """
    notebook = notebooks.read(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        notebooks.write(notebook, copy)
        try:
            outputs = notebooks.execute(copy)
        except RuntimeError as error:
            raise RuntimeError(f"{path}: {error}") from None
    for cell, fresh in zip(notebook.cells, outputs.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = fresh.outputs, fresh.execution_count
    notebook.metadata = notebooks.METADATA
    return notebook
