"""The lessons: executed in fresh kernels, then written or compared with what is committed.

What a lesson shows must be the same on every run, so that a change in it is a change in the
code. Whatever is not (widget states, times, paths) is dropped, refused, or marked: a cell tagged
``measured`` holds figures of one machine, and keeps them until its outputs are cleared.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm

SUMMARY = "execute the lessons in fresh kernels and compare, or rewrite, their outputs"

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET = "application/vnd.jupyter.widget-view+json"
UNSTABLE = re.compile(r"0x[0-9a-f]{6,}|/home/|/tmp/|/Users/|site-packages|[A-Z]:\\|ipykernel_")
COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
CELL_TIMEOUT = 300  # seconds


def add_arguments(parser):
    """Options of the command."""
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument(
        "--check", nargs="*", metavar="NAME",
        help="execute and compare; exit code 1 if a lesson fails or shows something else",
    )
    action.add_argument(
        "--refresh", nargs="*", metavar="NAME",
        help="execute and write; NAME is a number such as 02 or a path, all lessons by default",
    )
    parser.add_argument(
        "--directory", type=Path, default=Path("notebooks"), metavar="DIR",
        help="where the lessons are (default: %(default)s)",
    )


def run(arguments):
    """Refresh or check the named lessons: 0 if all is well, 1 if not, 2 for a wrong name."""
    refreshing = arguments.refresh is not None
    names = arguments.refresh if refreshing else arguments.check
    wrong = 0
    try:
        paths = lesson_paths(arguments.directory, names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for path in tqdm(paths, desc="refresh" if refreshing else "check", unit="lesson"):
        try:
            executed = execute(path)
        except (RuntimeError, TimeoutError) as error:
            problems = [str(error)]
        else:
            problems = [] if refreshing else differences(read(path), executed)
            if refreshing:
                write(executed, path)
        wrong += bool(problems)
        for problem in problems:
            tqdm.write(f"{path}: {problem}", file=sys.stderr)
    print(f"{len(paths) - wrong} of {len(paths)} lessons {'refreshed' if refreshing else 'right'}")
    return 1 if wrong else 0


def lesson_paths(directory, names=()):
    """The numbered lessons of `directory`, or those named by number or by path.

    Raises
    ------
    ValueError
        If there are no lessons, or a name fits none of them.
    """
    lessons = sorted(directory.glob("[0-9]*.ipynb"))
    if not lessons:
        raise ValueError(f"no lessons in {directory}: run this where the notebooks folder is, "
                         f"or name it with --directory")
    if not names:
        return lessons
    chosen = []
    for name in names:
        fits = [path for path in lessons if path.stem.startswith(name)]
        if Path(name).suffix == ".ipynb" and Path(name).is_file():
            fits = [Path(name)]
        if not fits:
            raise ValueError(
                f"no lesson {name!r} in {directory}; there are {[path.stem for path in lessons]}"
            )
        chosen += fits
    return chosen


def execute(path):
    """Run a notebook in a fresh kernel and return it normalised; the file is left alone.

    Raises
    ------
    RuntimeError
        If a cell raises, writes to stderr, or prints what another run would print differently.
    TimeoutError
        If a cell takes longer than `CELL_TIMEOUT`.
    """
    import nbclient

    committed, notebook = read(path), read(path)
    client = nbclient.NotebookClient(
        notebook, timeout=CELL_TIMEOUT, kernel_name="python3", record_timing=False,
        coalesce_streams=True, extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    with tempfile.TemporaryDirectory() as no_profile:
        try:
            client.execute(env=kernel_environment(no_profile))
        except nbclient.exceptions.CellExecutionError as error:
            raise RuntimeError(COLOUR_CODE.sub("", str(error))) from None
    for old, new in zip(committed.cells, notebook.cells, strict=True):
        if is_measured(old) and old.outputs:
            new.outputs = old.outputs
    normalise(notebook)
    refuse_unstable(notebook)
    return notebook


def kernel_environment(profile):
    """Environment of the kernel: this checkout's package, pictures, no progress bars."""
    search_path = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH")]))
    return {
        **os.environ, "PYTHONPATH": search_path, "IPYTHONDIR": profile, "TQDM_DISABLE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }


def normalise(notebook):
    """Drop, in place, what differs between two runs or two editors."""
    notebook.metadata = METADATA
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type != "code":
            continue
        cell.outputs = [output for output in cell.outputs if not is_passing(output)]
        for output in cell.outputs:
            if "metadata" in output:
                output.metadata = {}


def is_passing(output):
    """Whether an output is for the moment only: a slider, or a progress bar that was wiped away.

    A slider lives in its kernel; stored, it would read "Error displaying widget".
    """
    wiped = output.get("name") == "stderr" and not output.text.strip()
    return wiped or WIDGET in output.get("data", {})


def refuse_unstable(notebook):
    """Refuse output that is a warning, or that another run would print differently."""
    for number, cell in code_cells(notebook):
        for output in cell.outputs:
            text = shown_text(output)
            if output.get("name") == "stderr":
                raise RuntimeError(f"cell {number} writes to stderr: {text.strip()}")
            if found := UNSTABLE.search(text):
                raise RuntimeError(f"cell {number} prints an address or a path: {found.group()}")


def differences(committed, executed):
    """What `executed` shows otherwise than `committed`, as sentences; pictures by presence."""
    if len(committed.cells) != len(executed.cells):
        return [f"{len(committed.cells)} cells committed, {len(executed.cells)} executed"]
    problems = []
    for (number, old), (_, new) in zip(code_cells(committed), code_cells(executed), strict=True):
        was, now = ([comparable(output) for output in cell.outputs] for cell in (old, new))
        if was != now and not is_measured(old):
            problems.append(f"cell {number} shows {now}, committed is {was}")
    return problems


def comparable(output):
    """Kinds of an output and its text."""
    return sorted(output.get("data", [output.output_type])), shown_text(output)


def shown_text(output):
    """What a reader without pictures sees of an output."""
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def code_cells(notebook):
    """Pairs of position, from 1, and cell."""
    return [(n, cell) for n, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]


def is_measured(cell):
    """Whether the cell's outputs belong to one machine."""
    return "measured" in cell.metadata.get("tags", [])


def read(path):
    """Notebook of a file; cells keep their ids."""
    import nbformat

    return nbformat.read(path, as_version=4)


def write(notebook, path):
    """Write a notebook, whole or not at all."""
    import nbformat

    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
