"""Pictures of the matrices: the only room that imports Matplotlib.

One rule for all: the lightest colour is zero. Signed numbers run blue - white - red about 0,
weights run from white at 0. Query positions i go downwards, key positions j to the right.
Functions return a `matplotlib.figure.Figure`; a notebook shows it as a cell's last line.
"""

import io
import os
import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# The same figure must give the same bytes: no date, no version, ids from a fixed salt.
matplotlib.rcParams["svg.hashsalt"] = "relpos_np"
METADATA = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}

LARGEST_WITH_NUMBERS = 8
LARGEST_AS_VECTORS = 16
LARGEST_WITH_ALL_TOKENS = 40


def matrix_figure(
    matrices, *, symbol, titles=None, signed=None, query_tokens=None, key_tokens=None,
    limit=None, numbers=None, panel=3.4, columns=None,
):
    """Heatmaps side by side, all with one colour scale.

    Parameters
    ----------
    matrices : ndarray, (query_len, key_len) or (panels, query_len, key_len), or a list of them
    symbol : str
        What a colour means; the title of the colour bar, such as ``"j - i"``.
    titles : list of str, optional
        One per panel.
    signed : bool, optional
        Red and blue about 0, or white to dark from 0. By default signed if anything is negative.
    query_tokens, key_tokens : sequence of str, optional
        Labels in place of position numbers; `key_tokens` defaults to `query_tokens`.
    limit : float, optional
        Largest absolute value of the scale, to compare figures; the data's by default. Smaller
        than the data's, it cuts them and the colour bar ends in an arrow.
    numbers : bool, optional
        Print the numbers into the cells; by default up to 8 by 8.
    panel : float
        Height of a panel, inches.
    columns : int, optional
        Panels per row; all in one row by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If a matrix is not two-dimensional.
    """
    panels = list(matrices) if np.ndim(matrices[0]) == 2 else [matrices]
    panels = [np.asarray(matrix) for matrix in panels]
    for matrix in panels:
        if matrix.ndim != 2:
            raise ValueError(f"a heatmap needs (query_len, key_len), got shape {matrix.shape}")
    finite = [matrix[np.isfinite(matrix)] for matrix in panels]
    largest = max((np.abs(values).max() for values in finite if values.size), default=0)
    if signed is None:
        signed = any((values < 0).any() for values in finite)
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    # Aspect of a panel: a wide matrix gets a wide panel, within reason.
    width = panel * min(max(panels[0].shape[1] / max(panels[0].shape[0], 1), 0.6), 2.5)
    figure = Figure(figsize=(columns * width + 1.2, rows * panel + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for position, axes in enumerate(grid.flat):
        if position >= len(panels):
            axes.set_visible(False)
            continue
        image = draw_matrix(
            axes, panels[position], signed=signed, limit=limit or largest or 1, numbers=numbers
        )
        label_positions(axes, panels[position].shape, query_tokens, key_tokens)
        if titles:
            axes.set_title(titles[position], fontsize="medium")
    cut = "neither" if limit is None or limit >= largest else "both" if signed else "max"
    colour_bar = figure.colorbar(image, ax=grid, shrink=0.8, aspect=30, extend=cut)
    colour_bar.ax.set_title(symbol, fontsize="medium", loc="left")
    if all(np.issubdtype(matrix.dtype, np.integer) for matrix in panels):
        colour_bar.locator = MaxNLocator(integer=True)
    return figure


def draw_matrix(axes, matrix, *, signed, limit, numbers=None):
    """One heatmap on `axes`; masked pairs (not finite) are grey. Returns the image."""
    colours = matplotlib.colormaps["RdBu_r" if signed else "magma_r"].with_extremes(bad="0.85")
    shown = np.ma.masked_invalid(matrix.astype(float))
    # Vector cells have thin edges of their colour, or viewers show hairlines between them.
    vector = max(matrix.shape) <= LARGEST_AS_VECTORS
    image = axes.pcolormesh(
        *(np.arange(length + 1) - 0.5 for length in reversed(matrix.shape)), shown,
        cmap=colours, vmin=-limit if signed else 0, vmax=limit, rasterized=not vector,
        **({"edgecolors": "face", "linewidth": 0.2} if vector else {}),
    )
    axes.set_aspect("equal")
    axes.invert_yaxis()
    if numbers if numbers is not None else max(matrix.shape) <= LARGEST_WITH_NUMBERS:
        for (i, j), number in np.ndenumerate(matrix):
            dark = abs(number) > (0.6 if signed else 0.5) * limit
            text = f"{number}" if np.issubdtype(matrix.dtype, np.integer) else f"{number:.2f}"
            axes.text(j, i, text, ha="center", va="center", color="w" if dark else "k", size=9)
    return image


def label_positions(axes, shape, query_tokens=None, key_tokens=None):
    """Name both axes, with tokens on them if there are any."""
    axes.set_xlabel("key position j")
    axes.set_ylabel("query position i")
    key_tokens = query_tokens if key_tokens is None else key_tokens
    for axis, length, tokens in (
        (axes.yaxis, shape[0], query_tokens),
        (axes.xaxis, shape[1], key_tokens),
    ):
        axis.set_major_locator(MaxNLocator(nbins=10, integer=True))
        if tokens is not None and length <= LARGEST_WITH_ALL_TOKENS:
            visible = ["\N{OPEN BOX}" if str(token) == " " else str(token) for token in tokens]
            axis.set_ticks(np.arange(length), visible, size=8)


def position_figure(relative_position):
    """Heatmap of ``j - i``, clipped or not: (query_len, key_len) int to Figure."""
    return matrix_figure(relative_position, symbol="j - i", signed=True)


def index_figure(index):
    """Heatmap of table rows ``clip(j - i, -k, k) + k``: (query_len, key_len) int to Figure."""
    return matrix_figure(index, symbol="table row", signed=False)


def bias_figure(relative_logits, tokens=None, head_dim=None):
    """The attention bias per head: what positions add to the scores.

    Parameters
    ----------
    relative_logits : ndarray, (num_heads, query_len, key_len)
        ``q_i . a^K_ij``.
    tokens : sequence of str, optional
    head_dim : int, optional
        If given, divides by sqrt(head_dim): the bias as the softmax sees it.
    """
    symbol = r"$q_i \cdot a^K_{ij}$"
    if head_dim is not None:
        relative_logits = relative_logits / np.sqrt(head_dim)
        symbol = r"$q_i \cdot a^K_{ij} / \sqrt{d}$"
    return matrix_figure(
        list(relative_logits), symbol=symbol, signed=True, query_tokens=tokens,
        titles=head_titles(relative_logits),
    )


def weights_figure(weights, tokens=None, limit=None):
    """Attention weights per head: (num_heads, query_len, key_len) to Figure."""
    return matrix_figure(
        list(weights), symbol=r"$\alpha_{ij}$", signed=False, query_tokens=tokens, limit=limit,
        titles=head_titles(weights),
    )


def table_figure(
    tables, *, symbol=r"$w^K_r$", titles=None, limit=None, panel=3.4, columns=None
):
    """Position tables side by side: one (2k+1, head_dim) or a list, rows -k .. k, to Figure."""
    tables = [tables] if np.ndim(tables) == 2 else list(tables)
    figure = matrix_figure(
        tables, symbol=symbol, titles=titles, signed=True, limit=limit, numbers=False,
        panel=panel, columns=columns,
    )
    for axes, table in zip(figure.axes, tables, strict=False):
        k = len(table) // 2
        axes.set_aspect("auto")  # nine rows of a hundred components would be a thin line
        axes.set(xlabel="component d", ylabel="relative position r")
        axes.yaxis.set_major_formatter(lambda row, _, k=k: f"{round(row) - k:d}")
    return figure


def head_titles(per_head):
    """``head 0``, ``head 1``, ..."""
    return [f"head {head}" for head in range(len(per_head))]


def curves_figure(curves, *, x_label, y_label, title=None, log=False, size=(6.0, 3.8)):
    """Lines with markers in one panel.

    Parameters
    ----------
    curves : dict of str to (x, y) or (x, y, low, high)
        By legend entry; with `low` and `high` the spread is shaded.
    x_label, y_label : str
        With their units.
    title : str, optional
    log : bool or str
        True for both axes logarithmic, ``"x"`` or ``"y"`` for one.
    size : tuple of float
        Width and height, inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    for name, (x, y, *spread) in curves.items():
        (line,) = axes.plot(x, y, marker="o", markersize=4, label=name)
        if spread:
            axes.fill_between(x, *spread, color=line.get_color(), alpha=0.2, linewidth=0)
    if log in (True, "x"):
        axes.set_xscale("log", base=2)
    if log in (True, "y"):
        axes.set_yscale("log")
    axes.set(xlabel=x_label, ylabel=y_label)
    if title:
        axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        axes.legend(fontsize="small", frameon=False)
    return figure


def save_figure(figure, path, dpi=110):
    """Write an SVG or PNG file: the same bytes each time, and whole or not at all.

    Raises
    ------
    ValueError
        If the name ends in neither .svg nor .png.
    """
    path = Path(path)
    if path.suffix not in METADATA:
        raise ValueError(f"{path.name}: a figure's name ends in .svg or .png")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    figure.savefig(unfinished, dpi=dpi, bbox_inches="tight", metadata=METADATA[path.suffix])
    os.replace(unfinished, path)
    return path


def show_in_notebooks():
    """Let a notebook show a Figure that is a cell's last line: only pyplot's are known to it."""
    ipython = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if ipython:
        ipython.display_formatter.formatters["image/png"].for_type(Figure, png_bytes)


def png_bytes(figure, dpi=110):
    """The figure as the contents of a PNG file, the same bytes each time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight", metadata=METADATA[".png"])
    return buffer.getvalue()


show_in_notebooks()
