"""The generated tables in the README are what the code says today."""

import re
from pathlib import Path

import pytest
from peer_table import HEADINGS, peer_table

from relpos_np.conventions import conventions_markdown

README = Path(__file__).parents[1] / "README.md"


def block(name):
    """What stands between the markers of a generated block."""
    text = README.read_text(encoding="utf-8")
    found = re.search(f"<!-- {name}:begin -->\n(.*?)\n<!-- {name}:end -->", text, re.DOTALL)
    if not found and "<!-- SECTIONS -->" in text:
        pytest.skip("README.md has no sections yet")
    assert found, f"README.md has lost its block {name!r}"
    return found[1].strip()


def test_the_readme_lists_the_conventions_as_the_command_prints_them():
    assert block("conventions") == conventions_markdown()


def test_the_readme_lists_the_peers_with_bounds_that_hold():
    # The text must be the same; another BLAS may move a bound by a power of ten.
    written, current = (
        [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
        for text in (block("peers"), peer_table())
    )
    facts = HEADINGS.index("forward, float64")
    assert [line[:facts] for line in written] == [line[:facts] for line in current]
    for there, here in zip(written[2:], current[2:], strict=True):
        for bound, measured in zip(there[facts:], here[facts:], strict=True):
            assert bool(bound) == bool(measured), there
            if bound:
                assert float(measured) <= 10 * float(bound), (there, measured)
                assert float(bound) <= max(10 * float(measured), 1e-14), (there, measured)


def test_a_number_in_the_table_is_a_power_of_ten():
    for line in peer_table().splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")][3:]
        assert all(re.fullmatch(r"|0|1e-\d+", cell) for cell in cells), line
        assert any(cells)
