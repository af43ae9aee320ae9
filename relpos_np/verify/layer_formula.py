"""The layer around the formula, x to output, cut into steps like formula.py."""

from types import SimpleNamespace

import numpy as np

from relpos_np.verify.formula import INPUTS, run_forward

LAYER_INPUTS = (
    "x", "query_weight", "key_weight", "value_weight", "output_weight",
    "relative_key_table", "relative_value_table",
)


def run_layer(inputs, changes=None, hidden_rows="zeros"):
    """All stages of the layer, with the steps named in `changes` replaced.

    Parameters
    ----------
    inputs : dict
        The names of `LAYER_INPUTS`, and `mask` and `num_heads`.
    changes : dict of str to callable, optional
        Steps of the layer, or of formula.py.
    hidden_rows : str
        As for `run_forward`.

    Returns
    -------
    SimpleNamespace
        The inputs and every stage by name, those of the heads too.
    """
    layer, changes = SimpleNamespace(**inputs), changes or {}
    layer.changes, layer.hidden_rows = changes, hidden_rows
    for step in LAYER:
        setattr(layer, step.__name__, changes.get(step.__name__, step)(layer))
    layer.scores, layer.output = layer.attention.scores, layer.layer_output
    layer.met_hidden = layer.attention.met_hidden
    return layer


def projected(layer):
    """Queries, keys and values side by side, each (batch, length, num_heads * width)."""
    weights = (layer.query_weight, layer.key_weight, layer.value_weight)
    return tuple(layer.x @ weight for weight in weights)


def heads(layer):
    """Each head owns a contiguous block of columns: (batch, num_heads, length, width)."""
    return tuple(split(array, layer.num_heads).transpose(0, 2, 1, 3) for array in layer.projected)


def attended(layer):
    """The attention of formula.py, all heads."""
    tables = (layer.relative_key_table, layer.relative_value_table)
    inputs = dict(zip(INPUTS, (*layer.heads, *tables), strict=True))
    layer.attention = run_forward(
        {**inputs, "mask": layer.mask, "query_start": 0}, layer.changes, layer.hidden_rows
    )
    return layer.attention.output


def merged(layer):
    """The heads' outputs side by side."""
    batch, _, length, _ = layer.attended.shape
    return layer.attended.transpose(0, 2, 1, 3).reshape(batch, length, -1)


def layer_output(layer):
    return layer.merged @ layer.output_weight


def split(array, num_heads):
    """(batch, length, num_heads * width) to (batch, length, num_heads, width)."""
    return np.reshape(array, (*array.shape[:2], num_heads, -1))


LAYER = (projected, heads, attended, merged, layer_output)

RIGHT = {
    "projected": "query = x W^Q, key = x W^K, value = x W^V",
    "heads": "reshape(b, length, h, d).transpose(0, 2, 1, 3)",
    "merged": "transpose(0, 2, 1, 3).reshape(b, length, h * d)",
    "layer_output": "merged W^O",
}
