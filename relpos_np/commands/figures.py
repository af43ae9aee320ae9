"""Every figure of ``figures/``, redrawn; the same bytes each time."""

from relpos_np.commands import add_output_argument
from relpos_np.commands.benching.report import bench_figures
from relpos_np.commands.encodings import encoding_figures
from relpos_np.commands.tour import recompute, save_figures, voice_figures
from relpos_np.data import load_voice
from relpos_np.positions import clip_relative_position, relative_position_matrix, table_index

SUMMARY = "draw every figure of figures/ again, byte for byte"

LENGTH, MAX_RELATIVE_POSITION = 6, 2  # small enough to print the numbers into the cells


def add_arguments(parser):
    """Options of the command."""
    add_output_argument(parser)


def run(arguments):
    """Write all figures and print their paths."""
    voice = load_voice()
    caches = {number: recompute(layer) for number, layer in voice.layers.items()}
    figures = {
        **position_figures(), **voice_figures(voice, caches), **encoding_figures(),
        **bench_figures(),
    }
    for path in save_figures(figures, arguments.output):
        print(f"wrote {path}")
    return 0


def position_figures():
    """Steps 1 to 3 as matrices with their numbers, by file name."""
    from relpos_np import plots

    position = relative_position_matrix(LENGTH)
    clipped = clip_relative_position(position, MAX_RELATIVE_POSITION)
    return {
        "relative_position.svg": plots.position_figure(position),
        "clipped_position.svg": plots.position_figure(clipped),
        "table_index.svg": plots.index_figure(table_index(clipped, MAX_RELATIVE_POSITION)),
    }
