"""Pictures of the matrices: the only room that imports Matplotlib.

One rule for all: the lightest colour is zero. Signed numbers run blue - white - red about 0,
weights from pale yellow at 0 to black. Query positions i go downwards, key positions j to the
right. Functions return a `matplotlib.figure.Figure`; a notebook shows it as a cell's last line.
"""

from relpos_np.plots.curves import curves_figure
from relpos_np.plots.files import png_bytes, save_figure, show_in_notebooks
from relpos_np.plots.heatmaps import matrix_figure
from relpos_np.plots.of_attention import (
    bias_figure,
    index_figure,
    position_figure,
    table_figure,
    weights_figure,
)

__all__ = [
    "bias_figure",
    "curves_figure",
    "index_figure",
    "matrix_figure",
    "png_bytes",
    "position_figure",
    "save_figure",
    "table_figure",
    "weights_figure",
]

show_in_notebooks()
