"""Words are spelled as the dictionary has them, and links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

nbformat = pytest.importorskip("nbformat", reason="the lessons need jupyter")

ROOT = Path(__file__).parent.parent
# Not the Python files of the tests: those misspell on purpose.
OWN = {".md": ("docs", "relpos_np", "tests"), ".ipynb": ("notebooks",), ".py": ("relpos_np",)}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BRACKETED = re.compile(r"<(https?://[^>\s]*)>")


def files(suffix):
    """The project's own files with this suffix."""
    found = list(ROOT.glob(f"*{suffix}"))
    for room in OWN[suffix]:
        found += (ROOT / room).rglob(f"*{suffix}")
    return [path for path in sorted(found) if ".ipynb_checkpoints" not in path.parts]


def cells(notebook, kind):
    return [c.source for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == kind]


def prose():
    """Pairs of a file and its Markdown."""
    pages = {path: path.read_text(encoding="utf-8") for path in files(".md")}
    pages |= {path: "\n\n".join(cells(path, "markdown")) for path in files(".ipynb")}
    return pages


def misspelled(directory):
    """Lines of codespell's report on the text files of `directory`."""
    report = subprocess.run(
        [sys.executable, "-m", "codespell_lib", directory],
        capture_output=True, text=True, check=False,
    )
    assert report.returncode in (0, 65), report.stderr
    return report.stdout.replace(f"{directory}/", "").splitlines()


def broken(target, page):
    """What is wrong with a link on this page, or None."""
    address = urlsplit(target)
    if address.scheme:
        well_formed = address.scheme in ("https", "http", "mailto") and (
            "." in address.netloc or "@" in address.path
        )
        return None if well_formed else "is no address"
    goal = page.parent / address.path if address.path else page
    if not goal.exists():
        return "leads to no file"
    if address.fragment and goal.suffix == ".md" and address.fragment not in anchors(goal):
        return "leads to no heading"
    return None


def anchors(page):
    """Anchors of a Markdown file, as GitHub makes them of its headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def test_every_word_is_spelled_right(tmp_path):
    pytest.importorskip("codespell_lib", reason="codespell knows the misspellings")
    for path in [*files(".md"), *files(".py"), *files(".ipynb")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":  # without its pictures
            text = "\n\n".join(cells(path, "markdown") + cells(path, "code"))
        copy = tmp_path / f"{path.relative_to(ROOT)}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    assert misspelled(tmp_path) == []


def test_a_misspelled_word_is_seen(tmp_path):
    pytest.importorskip("codespell_lib", reason="codespell knows the misspellings")
    (tmp_path / "page.txt").write_text("The weigths of an occurence.\n")
    assert misspelled(tmp_path) == [
        "page.txt:1: weigths ==> weights", "page.txt:1: occurence ==> occurrence"
    ]


def test_every_link_leads_somewhere():
    found = [
        f"{page.relative_to(ROOT)}: {target} {complaint}"
        for page, text in prose().items()
        for target in LINK.findall(text) + BRACKETED.findall(text)
        if (complaint := broken(target, page))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("../README.md", None),
        ("https://arxiv.org/abs/1803.02155", None),
        ("../READMY.md", "leads to no file"),
        ("../README.md#no-such-heading", "leads to no heading"),
        ("htps://arxiv.org/abs/1803.02155", "is no address"),
        ("https://arxiv", "is no address"),
    ],
)
def test_a_broken_link_is_seen(target, complaint):
    assert broken(target, ROOT / "notebooks" / "01-why-relative.ipynb") == complaint


def test_pages_are_found():
    pages = {str(page.relative_to(ROOT)) for page in prose()}
    assert {"README.md", "notebooks/01-why-relative.ipynb"} <= pages
    assert sum(len(LINK.findall(text)) for text in prose().values()) > 20
