"""The measurement as a table for the terminal, and as figures."""

import json
from pathlib import Path

RECORDED = Path(__file__).parents[2] / "data" / "bench.json"
# Lines in the figures: the ladder, and the peers that people use.
IN_FIGURES = (
    "naive", "einsum", "matmul", "gather", "skew", "tiled", "torch einsum (HF)",
    "torch matmul (tensor2tensor)", "torch SDPA + bias",
)


def table(measurement, length):
    """Lines of text for one length."""
    entries = measurement["lengths"][str(length)]
    lines = [
        f"length {length}",
        f"  {'':30}{'forward':>16}{'forward + backward':>22}{'memory, MiB':>17}",
        f"  {'':30}{'ms':>8}{'x tiled':>8}{'ms':>14}{'x tiled':>8}{'fwd':>9}{'both':>8}",
    ]
    for name, entry in entries.items():
        terms = {"K and V": "", "K": " [K]", "none": ""}[entry["terms"]]
        times = (
            f"{1e3 * entry['forward']:8.2f}{entry['forward_ratio']:8.2f}"
            f"{1e3 * entry['both']:14.2f}{entry['both_ratio']:8.2f}"
        )
        memory = "".join(
            f"{'-' if size is None else format(size / 2**20, '.1f'):>{width}}"
            for size, width in zip(entry["memory"] or (None, None), (9, 8), strict=True)
        )
        lines.append(f"  {name + terms:30}{times}{memory}")
    relative = measurement["relative_over_plain"].get(str(length))
    if relative:
        lines.append(
            f"  relative over plain in the same tiling, one thread: forward "
            f"{relative['forward']:.3f}, forward + backward {relative['both']:.3f}"
        )
    return lines


def load_recorded():
    """The measurement that the project's figures are drawn from."""
    return json.loads(RECORDED.read_text())


def bench_figures(measurement=None):
    """Time and memory against the length, log-log.

    Parameters
    ----------
    measurement : dict, optional
        As `measure` returns it; by default the recorded one.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By file name.
    """
    from relpos_np import plots

    measurement = load_recorded() if measurement is None else measurement
    title = f"{measurement['problem']}, {measurement['threads']} threads"
    time = curves(measurement, lambda entry: entry["both"] * 1e3)
    memory = curves(measurement, lambda entry: (entry["memory"] or (0, 0))[1] / 2**20)
    figures = {"bench_time.svg": plots.curves_figure(
        time, x_label="length", y_label="forward + backward, ms", title=title, log=True,
        size=(7.5, 4.6),
    )}
    if memory:
        figures["bench_memory.svg"] = plots.curves_figure(
            memory, x_label="length", y_label="peak memory growth, MiB", title=title, log=True,
            size=(7.5, 4.6),
        )
    return figures


def curves(measurement, number):
    """By contestant: lengths, and a positive number of each."""
    lines = {}
    for name in IN_FIGURES:
        points = [
            (int(length), number(entries[name]))
            for length, entries in measurement["lengths"].items() if name in entries
        ]
        points = [(length, y) for length, y in points if y > 0]
        if points:
            lines[name] = tuple(zip(*points, strict=True))
    return lines
