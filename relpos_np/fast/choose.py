"""The rung for the size: gather where everything is small, tiled otherwise."""

import math

import numpy as np

from relpos_np.fast.by_row import ByRowCache
from relpos_np.fast.gather import gather_backward, gather_forward
from relpos_np.fast.tiled_backward import tiled_backward
from relpos_np.fast.tiled_forward import tiled_forward

# Up to here the (query_len, key_len) arrays of a head fit a cache, and tiles only add calls.
PAIRS_FOR_GATHER = 128 * 128


def attention_forward(
    query, key, value, relative_key_table=None, relative_value_table=None,
    *, mask=None, query_start=None,
):
    """`relpos_np.attention_forward`, by the rung that is fast for the size.

    Takes the arguments of `relpos_np.attention_forward`, any mask; complex numbers by `gather`.

    Returns
    -------
    output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache or TiledCache
        For `attention_backward` of this room.

    Raises
    ------
    ValueError, TypeError
        As `relpos_np.attention_forward` does.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> query, key, value = rng.normal(size=(3, 1, 2, 200, 8))
    >>> tables = rng.normal(size=(2, 9, 8))
    >>> output, cache = attention_forward(query, key, value, *tables)
    >>> type(cache).__name__
    'TiledCache'
    """
    arguments = query, key, value, relative_key_table, relative_value_table
    small = pairs_of_a_head(query, key) <= PAIRS_FOR_GATHER
    rung = gather_forward if small or any(map(np.iscomplexobj, arguments)) else tiled_forward
    return rung(*arguments, mask=mask, query_start=query_start)


def pairs_of_a_head(query, key):
    """query_len * key_len, or 0 for what is no query or no key: every rung refuses that."""
    shapes = [getattr(array, "shape", ()) for array in (query, key)]
    return math.prod(shape[2] for shape in shapes) if min(map(len, shapes)) > 2 else 0


def attention_backward(grad_output, cache):
    """Gradients of `attention_forward` of this room: the backward of the rung it chose.

    Parameters
    ----------
    grad_output : ndarray, (batch, num_heads, query_len, value head_dim)
    cache : ByRowCache or TiledCache

    Returns
    -------
    AttentionGrads

    Raises
    ------
    ValueError
        If `grad_output` does not have the shape of the output.
    """
    rung = gather_backward if isinstance(cache, ByRowCache) else tiled_backward
    return rung(grad_output, cache)
