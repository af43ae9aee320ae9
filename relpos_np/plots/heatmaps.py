"""Heatmaps of (query, key) matrices, several side by side on one colour scale."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from relpos_np.plots.files import own_style

LARGEST_WITH_NUMBERS = 8
LARGEST_AS_VECTORS = 16
LARGEST_WITH_ALL_TOKENS = 40


@own_style()
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
        Red and blue about 0, or pale to dark from 0. By default signed if anything is negative.
    query_tokens, key_tokens : sequence of str, optional
        Labels in place of position numbers, up to 40 of them. `key_tokens` defaults to
        `query_tokens` where there are as many keys as queries.
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
        If there is nothing to draw, a matrix is not two-dimensional, `signed` hides negative
        numbers, or titles or tokens are not as many as panels or positions.
    """
    panels = [np.asarray(matrix) for matrix in (matrices if np.ndim(matrices) != 2 else [matrices])]
    refuse_undrawable(panels, titles, limit, columns)
    finite = [matrix[np.isfinite(matrix)].astype(float) for matrix in panels]
    largest = max((np.abs(values).max() for values in finite if values.size), default=0)
    negative = any((values < 0).any() for values in finite)
    if negative and signed is False:
        raise ValueError("signed=False, but there are negative numbers: they would look like 0")
    signed = negative if signed is None else signed
    figure, grid = panel_grid(panels[0].shape, len(panels), panel, columns)
    for position, (axes, matrix) in enumerate(zip(grid.flat, panels, strict=False)):
        image = draw_matrix(
            axes, matrix, signed=signed, limit=limit or largest or 1, numbers=numbers
        )
        label_positions(axes, matrix.shape, query_tokens, key_tokens)
        if titles:
            axes.set_title(titles[position], fontsize="medium")
    cut = "neither" if limit is None or limit >= largest else "both" if signed else "max"
    colour_bar = figure.colorbar(image, ax=grid, shrink=0.8, aspect=30, extend=cut)
    colour_bar.ax.set_title(symbol, fontsize="medium", loc="left")
    if all(np.issubdtype(matrix.dtype, np.integer) for matrix in panels):
        colour_bar.locator = MaxNLocator(integer=True)
    return figure


def refuse_undrawable(panels, titles, limit, columns):
    """Refuse what would give an empty or a misleading picture."""
    if not panels:
        raise ValueError("there is no matrix to draw")
    for matrix in panels:
        if matrix.ndim != 2 or matrix.size == 0:
            raise ValueError(
                f"a heatmap needs (query_len, key_len), at least (1, 1), got shape {matrix.shape}"
            )
        if np.iscomplexobj(matrix):
            raise ValueError("a heatmap shows real numbers: draw .real or .imag")
    if titles and len(titles) != len(panels):
        raise ValueError(f"{len(titles)} titles for {len(panels)} panels")
    for name, number in (("limit", limit), ("columns", columns)):
        if number is not None and number <= 0:
            raise ValueError(f"{name} must be positive, got {number}")


def panel_grid(shape, count, panel, columns):
    """A figure with room for `count` panels, wide matrices in wide panels within reason."""
    columns = columns or count
    rows = -(-count // columns)
    width = panel * min(max(shape[1] / shape[0], 0.6), 2.5)
    figure = Figure(figsize=(columns * width + 1.2, rows * panel + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, grid


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
        for i, j in np.argwhere(np.isfinite(matrix)):
            number = matrix[i, j]
            dark = abs(float(number)) > (0.6 if signed else 0.5) * limit
            text = f"{number:.2f}" if np.issubdtype(matrix.dtype, np.floating) else f"{number:d}"
            axes.text(j, i, text, ha="center", va="center", color="w" if dark else "k", size=9)
    return image


def label_positions(axes, shape, query_tokens=None, key_tokens=None):
    """Name both axes, with tokens on them if there are any."""
    axes.set_xlabel("key position j")
    axes.set_ylabel("query position i")
    if key_tokens is None and shape[0] == shape[1]:
        key_tokens = query_tokens
    for axis, length, tokens in (
        (axes.yaxis, shape[0], query_tokens),
        (axes.xaxis, shape[1], key_tokens),
    ):
        axis.set_major_locator(MaxNLocator(nbins=10, integer=True))
        if tokens is not None and len(tokens) != length:
            raise ValueError(f"{len(tokens)} tokens for {length} positions")
        if tokens is not None and length <= LARGEST_WITH_ALL_TOKENS:
            axis.set_ticks(np.arange(length), [as_label(token) for token in tokens], size=8)


def as_label(token):
    """A token as it is: a space made visible, and no dollar sign taken for a formula."""
    return "\N{OPEN BOX}" if str(token) == " " else str(token).replace("$", r"\$")
