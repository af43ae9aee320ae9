"""What equations (3) and (4) and the layer around them ask of their inputs together."""

import numpy as np

from relpos_np.validate.arrays import boolean_mask, same_precision


def attention_inputs(query, key, value, relative_key_table, relative_value_table, mask):
    """Refuse what equations (3) and (4) give no meaning to.

    Parameters
    ----------
    query, key, value : ndarray, (batch, num_heads, length, head_dim)
    relative_key_table, relative_value_table : ndarray, (2k+1, d) or (num_heads, 2k+1, d), or None
    mask : ndarray of bool or None, broadcastable to (batch, num_heads, query_len, key_len)

    Raises
    ------
    TypeError
        For an array that is not floating point, precisions that differ, a mask that is not bool.
    ValueError
        For shapes that do not fit together.
    """
    arrays = {"query": query, "key": key, "value": value}
    tables = {
        "relative_key_table": relative_key_table,
        "relative_value_table": relative_value_table,
    }
    tables = {name: table for name, table in tables.items() if table is not None}
    same_precision({**arrays, **tables})
    heads_fit(query, key, value)
    for name, table in tables.items():
        partner, array = ("query", query) if name == "relative_key_table" else ("value", value)
        table_shape(name, table, num_heads=query.shape[1], head_dim=array.shape[3], partner=partner)
    if len({table.shape[-2] for table in tables.values()}) > 1:
        rows = relative_key_table.shape[-2], relative_value_table.shape[-2]
        raise ValueError(
            f"relative_key_table has {rows[0]} rows (k = {rows[0] // 2}), relative_value_table has "
            f"{rows[1]} (k = {rows[1] // 2}): both need the same k; repeat the end rows of the "
            f"smaller one to widen it"
        )
    if mask is not None:
        mask_shape(mask, (*query.shape[:3], key.shape[2]))


def heads_fit(query, key, value):
    """Refuse queries, keys and values of which equation (4) or (3) cannot take products."""
    for name, array in {"query": query, "key": key, "value": value}.items():
        if array.ndim != 4:
            raise ValueError(
                f"{name} has shape {array.shape}; it must be (batch, num_heads, length, head_dim): "
                f"one head without a batch is {name}[np.newaxis, np.newaxis]"
            )
    for name, array in {"key": key, "value": value}.items():
        if array.shape[:2] != query.shape[:2]:
            raise ValueError(
                f"{name} has (batch, num_heads) {array.shape[:2]}, query has {query.shape[:2]}: "
                f"repeat or broadcast them to the same"
            )
    if key.shape[3] != query.shape[3]:
        raise ValueError(
            f"key has head_dim {key.shape[3]}, query has {query.shape[3]}: "
            f"q_i . k_j needs the same (only value may have another)"
        )
    if query.shape[3] == 0:
        raise ValueError("head_dim is 0: q_i . k_j / sqrt(head_dim) needs at least 1")
    if value.shape[2] != key.shape[2]:
        raise ValueError(
            f"value has length {value.shape[2]}, key has {key.shape[2]}: one value per key"
        )


def table_shape(name, table, *, num_heads, head_dim, partner):
    """Refuse a relative position table that is not (2k+1, head_dim) or one such per head."""
    if table.ndim not in (2, 3):
        raise ValueError(
            f"{name} has shape {table.shape}; it must be (2k+1, head_dim), shared by the heads, "
            f"or (num_heads, 2k+1, head_dim)"
        )
    num_rows = table.shape[-2]
    if num_rows % 2 == 0:
        raise ValueError(
            f"{name} has {num_rows} rows; -k .. k needs an odd number, 2k+1: an even table has no "
            f"row for distance 0 in its middle (see conventions for other layouts)"
        )
    if table.ndim == 3 and table.shape[0] != num_heads:
        raise ValueError(
            f"{name} has tables for {table.shape[0]} heads, query has {num_heads}: give one per "
            f"head, or a single (2k+1, head_dim) table that all share"
        )
    if table.shape[-1] != head_dim:
        raise ValueError(
            f"{name} has head_dim {table.shape[-1]}, {partner} has {head_dim}: they must agree"
        )


def mask_shape(mask, shape):
    """Refuse a mask that is not boolean or does not broadcast to `shape`."""
    boolean_mask(mask)
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask has shape {mask.shape}, which does not broadcast to (batch, num_heads, "
            f"query_len, key_len) = {shape}: a padding mask (batch, key_len) is "
            f"mask[:, np.newaxis, np.newaxis, :]"
        )


def projections(x, weights, num_heads):
    """Refuse an x and projection matrices that do not chain: x (b, length, m), W (m, h * d).

    Whether the resulting heads fit each other and the tables, `attention_inputs` says.
    """
    same_precision({"x": x, **weights})
    if x.ndim != 3:
        raise ValueError(f"x has shape {x.shape}; it must be (batch, length, model_dim)")
    for name, weight in weights.items():
        if weight.ndim != 2:
            raise ValueError(f"{name} has shape {weight.shape}; a projection is a matrix")
    for name in ("query_weight", "key_weight", "value_weight"):
        rows, columns = weights[name].shape
        if rows != x.shape[2]:
            raise ValueError(
                f"{name} has {rows} rows, x has model_dim {x.shape[2]}: x W needs them equal; "
                f"a torch Linear weight is (out, in), so pass {name}.T"
            )
        if columns % num_heads:
            raise ValueError(
                f"{name} has {columns} columns, which {num_heads} heads cannot share evenly"
            )
    merged, rows = weights["value_weight"].shape[1], weights["output_weight"].shape[0]
    if rows != merged:
        raise ValueError(
            f"output_weight has {rows} rows, value_weight has {merged} columns: "
            f"the merged heads are projected by output_weight, so they must agree"
        )
