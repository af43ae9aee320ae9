"""The arrows between the rooms, the size of the lessons, and what each public name must say."""

import ast
import inspect
import sys
from pathlib import Path

import pytest

import relpos_np

PACKAGE = Path(relpos_np.__file__).parent
LINES_OF_A_MODULE, LINES_OF_A_FUNCTION = 150, 30

# What each room may import of ours. A room that is not named here may import anything but doors.
ARROWS = {
    "validate": (),
    "positions": ("validate",),
    "table": ("validate",),
    "softmax": ("validate",),
    "naive": (),
    "naive_backward": ("naive",),
    "numerical_gradient": (),
    "taylor": ("numerical_gradient",),
    "gradcheck_report": (),
    "gradcheck": ("gradcheck_report", "numerical_gradient"),
    "plots": (),
    "conventions": ("validate",),
    "data": (),
    "attention": ("positions", "softmax", "table", "validate"),
    "attention_backward": ("attention", "softmax", "table", "validate"),
    "attention_matmul": ("attention", "positions", "softmax", "table", "validate"),
    "heads": ("validate",),
    "multihead": ("attention", "attention_backward", "heads", "validate"),
    "decimals": (),
    "oracle": ("decimals", "naive", "validate"),
    "fast": ("attention", "attention_backward", "positions", "softmax", "table", "validate"),
    "encodings": ("positions", "softmax", "table", "validate"),
}
DOORS = ("train", "exercises", "verify", "commands")
OUTSIDE = {"numpy", "tqdm"} | set(sys.stdlib_module_names)
# Rooms whose files are lessons: they are read from top to bottom.
LESSONS = (
    "positions", "table", "softmax", "attention", "attention_backward", "attention_matmul",
    "heads", "multihead", "naive", "naive_backward", "numerical_gradient", "taylor", "gradcheck",
    "gradcheck_report", "oracle", "decimals", "validate",
    "conventions", "fast", "encodings", "train",
)


def sources():
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(tree):
    """Full dotted names of everything a module imports, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_arrows(room, tree):
    """Imports of ours that the house does not allow to `room`."""
    wrong = []
    for name in imported_names(tree):
        if name.split(".")[0] != "relpos_np":
            continue
        target = name.split(".")[1]
        if (PACKAGE / target).exists() or (PACKAGE / f"{target}.py").exists():
            allowed = target in ARROWS[room] if room in ARROWS else target not in DOORS
            if not (allowed or target == room or room in DOORS):
                wrong.append(f"{room} -> {target}")
    return wrong


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_its_arrows_allow(path):
    room = room_of(path)
    if room not in ("__init__", "__main__"):
        assert wrong_arrows(room, ast.parse(path.read_text())) == []


@pytest.mark.parametrize(("room", "source"), [
    ("naive", "from relpos_np.positions import clip_relative_position"),
    ("naive", "from relpos_np import positions"),
    ("attention", "def f():\n    from relpos_np.verify import verify"),
    ("oracle", "import relpos_np.attention"),
])
def test_a_forbidden_import_is_seen(room, source):
    assert len(wrong_arrows(room, ast.parse(source))) == 1


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_imports_numpy_alone_and_only_plots_imports_matplotlib(path):
    outside = {name.split(".")[0] for name in imported_names(ast.parse(path.read_text()))}
    foreign = outside - OUTSIDE - {"relpos_np"}
    if room_of(path) == "plots":
        assert foreign <= {"matplotlib"}
    elif room_of(path) not in DOORS:  # a door may use what its own job needs, inside functions
        assert foreign == set()


def lesson_files():
    return [path for path in sources() if room_of(path) in LESSONS]


@pytest.mark.parametrize("path", lesson_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_lesson_fits_the_eye(path):
    source = path.read_text()
    assert len(source.splitlines()) <= LINES_OF_A_MODULE
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            assert code_lines(node, source) <= LINES_OF_A_FUNCTION, node.name


def code_lines(node, source):
    """Lines of a function's body that hold code: no docstring, comment or blank line."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    if not body:
        return 0
    lines = source.splitlines()[body[0].lineno - 1 : node.end_lineno]
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


@pytest.mark.parametrize("name", [name for name in relpos_np.__all__ if name.islower()])
def test_a_public_function_says_its_shapes_and_what_it_returns(name):
    docstring = inspect.getdoc(getattr(relpos_np, name))
    assert docstring
    if "Takes the arguments of" not in docstring:
        for section in ("Parameters", "Returns"):
            assert f"\n{section}\n{'-' * len(section)}" in docstring, section
