"""Lines: what is measured against a size."""

import math

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from relpos_np.plots.files import own_style

LARGEST_NUMBER_OF_TICKS = 8


@own_style()
def curves_figure(curves, *, x_label, y_label, title=None, log=False, size=(6.0, 3.8)):
    """Lines with markers in one panel.

    Parameters
    ----------
    curves : dict of str to (x, y) or (x, y, low, high)
        By legend entry; with `low` and `high` the spread is shaded.
    x_label, y_label : str
        With their units.
    title : str, optional
    log : bool or {"x", "y"}
        True for both axes logarithmic, ``"x"`` or ``"y"`` for one.
    size : tuple of float
        Width and height, inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If `log` is something else.
    """
    if log not in (False, True, "x", "y"):
        raise ValueError(f"log must be True, False, 'x' or 'y', got {log!r}")
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    for name, (x, y, *spread) in curves.items():
        (line,) = axes.plot(x, y, marker="o", markersize=4, label=name)
        if spread:
            axes.fill_between(x, *spread, color=line.get_color(), alpha=0.2, linewidth=0)
    if log in (True, "x"):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=LARGEST_NUMBER_OF_TICKS))
        axes.xaxis.set_major_formatter(power_of_two)
    if log in (True, "y"):
        axes.set_yscale("log")
    axes.set(xlabel=x_label, ylabel=y_label)
    if title:
        axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        # Beside the panel: inside, many lines leave no corner free.
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", frameon=False)
    return figure


def power_of_two(x, _=None):
    """Label of a tick: lengths as whole numbers, steps below 1 by their exponent."""
    return f"{x:.0f}" if x >= 1 else f"$2^{{{math.log2(x):g}}}$"
