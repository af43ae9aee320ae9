"""The whole layer in 60-digit decimal arithmetic: projections, the double loop, the projection."""

from decimal import localcontext

import numpy as np

from relpos_np.decimals import CONTEXT, exact, select
from relpos_np.naive import naive_attention
from relpos_np.oracle import STEP


def oracle_layer(inputs, *, mask=None, num_heads):
    """Output of the layer, correctly rounded.

    Parameters
    ----------
    inputs : dict of str to ndarray
        The names of `LAYER_INPUTS`.
    mask : ndarray of bool, (length, length), optional
    num_heads : int

    Returns
    -------
    ndarray, (batch, length, model_dim)
    """
    with localcontext(CONTEXT):
        return decimal_layer(decimals(inputs), mask, num_heads).astype(float)


def oracle_layer_gradients(grad_output, inputs, *, mask=None, num_heads):
    """Gradients of ``sum(grad_output * output)`` by 60-digit central differences, as a dict."""
    with localcontext(CONTEXT):
        arrays, upstream = decimals(inputs), exact(grad_output)

        def loss():
            return (upstream * decimal_layer(arrays, mask, num_heads)).sum()

        grads = {}
        for name, array in arrays.items():
            grads[name] = np.zeros(array.shape)
            for index in np.ndindex(array.shape):
                number = array[index]
                array[index] = number + STEP
                above = loss()
                array[index] = number - STEP
                grads[name][index] = float((above - loss()) / (2 * STEP))
                array[index] = number
    return grads


def decimal_layer(inputs, mask, num_heads):
    """The layer on arrays of Decimals, head by head."""
    x, tables = inputs["x"], [inputs["relative_key_table"], inputs["relative_value_table"]]
    query, key, value = (
        x.dot(inputs[f"{name}_weight"]) for name in ("query", "key", "value")
    )
    merged = np.zeros_like(value)
    for b, h in np.ndindex(len(x), num_heads):
        columns = (slice(h * a.shape[-1] // num_heads, (h + 1) * a.shape[-1] // num_heads)
                   for a in (query, key, value))
        parts = [a[b][:, part].tolist() for a, part in zip((query, key, value), columns,
                                                           strict=True)]
        rows = [select(table, b, h).tolist() for table in tables]
        width = value.shape[-1] // num_heads
        merged[b, :, h * width : (h + 1) * width] = naive_attention(*parts, *rows, mask).output
    return merged.dot(inputs["output_weight"])


def decimals(inputs):
    return {name: exact(array) for name, array in inputs.items()}
