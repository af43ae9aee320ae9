"""The functions of the solution notebooks, by the number of their exercise."""

import re
from pathlib import Path

import nbformat

DIRECTORY = Path(__file__).parent.parent / "notebooks"


def paths(kind):
    return sorted((DIRECTORY / kind).glob("*.ipynb"))


def functions(kind="solutions", **replaced):
    """Run the exercise cells of all notebooks of a kind, without the checks.

    `replaced` goes into the namespace in the place of what a notebook imports under that name.
    """
    found = {}
    for path in paths(kind):
        namespace = {}
        for cell in nbformat.read(path, as_version=4).cells:
            checked = re.fullmatch(r'check\("([\d.]+)", (\w+)\)', cell.source)
            if checked:
                found[checked[1]] = namespace[checked[2]]
            elif cell.cell_type == "code" and cell.source != "progress()":
                exec(compile(cell.source, str(path), "exec"), namespace)
                namespace |= {name: thing for name, thing in replaced.items() if name in namespace}
    return found
