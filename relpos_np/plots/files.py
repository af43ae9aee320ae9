"""Figures as files and in notebooks: the same bytes each time, whole or not at all."""

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

# No date, no version: the same figure must give the same bytes.
METADATA = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}


@contextlib.contextmanager
def own_style():
    """Matplotlib's defaults whatever the reader has set up, and ids in SVG from a fixed salt."""
    with matplotlib.style.context("default"), matplotlib.rc_context({"svg.hashsalt": "relpos_np"}):
        yield


@own_style()
def save_figure(figure, path, dpi=110):
    """Write an SVG or PNG file: the same bytes each time, and whole or not at all.

    Raises
    ------
    ValueError
        If the name ends in neither .svg nor .png.
    OSError
        If the file cannot be written; nothing is left behind.
    """
    path = Path(path)
    if path.suffix not in METADATA:
        raise ValueError(f"{path.name}: a figure's name ends in .svg or .png")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(suffix=path.suffix, prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            figure.savefig(
                file, format=path.suffix[1:], dpi=dpi, bbox_inches="tight",
                metadata=METADATA[path.suffix],
            )
        os.chmod(unfinished, 0o644)  # a temporary file is its owner's alone
        os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
    return path


def show_in_notebooks():
    """Let a notebook show a Figure that is a cell's last line: only pyplot's are known to it."""
    ipython = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if ipython:
        ipython.display_formatter.formatters["image/png"].for_type(Figure, png_bytes)


@own_style()
def png_bytes(figure, dpi=110):
    """The figure as the contents of a PNG file, the same bytes each time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight", metadata=METADATA[".png"])
    return buffer.getvalue()
