"""What the encodings with one row per distance refuse, and where their keys are visible."""

from relpos_np.positions import relative_position_matrix
from relpos_np.validate import same_precision


def queries_are_last(query_len, key_len, query_start):
    """Where a key stands at or before its query: (query_len, key_len) bool.

    Raises
    ------
    ValueError
        If the queries are not the last of the key positions: the shift reads the farthest
        distance off key_len, so it knows no other place for them.
    """
    position = relative_position_matrix(query_len, key_len, query_start)
    if (query_start or 0) != key_len - query_len:
        raise ValueError(
            f"query_start is {query_start}, but {query_len} queries of {key_len} keys must be the "
            f"last ones, query_start = {key_len - query_len}: the shift knows no other place"
        )
    return position <= 0


def transformer_xl_inputs(
    query, key, position_encoding, position_weight, content_bias, position_bias, two_directional
):
    """Refuse positional arguments that do not fit the heads, or the wrong number of distances."""
    same_precision({
        "query": query, "position_encoding": position_encoding,
        "position_weight": position_weight, "content_bias": content_bias,
        "position_bias": position_bias,
    })
    _, num_heads, query_len, head_dim = query.shape
    rows = key.shape[2] + query_len if two_directional else key.shape[2]
    if position_weight.ndim != 3:
        raise ValueError(
            f"position_weight has shape {position_weight.shape}, it must be (num_heads, model_dim, "
            f"head_dim): a torch Linear's (num_heads * head_dim, model_dim) is "
            f"weight.reshape(num_heads, head_dim, model_dim).swapaxes(1, 2)"
        )
    model_dim = position_weight.shape[1]
    expected = {
        "position_encoding": (position_encoding, (rows, model_dim)),
        "position_weight": (position_weight, (num_heads, model_dim, head_dim)),
        "content_bias": (content_bias, (num_heads, head_dim)),
        "position_bias": (position_bias, (num_heads, head_dim)),
    }
    for name, (array, shape) in expected.items():
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, it must be {shape}")


def check_windows(query, value, key_window, value_window):
    """Refuse causal windows that are not (m, head_dim) or one such per head."""
    windows = {"key_window": (key_window, query), "value_window": (value_window, value)}
    windows = {name: pair for name, pair in windows.items() if pair[0] is not None}
    same_precision({"query": query, **{name: window for name, (window, _) in windows.items()}})
    for name, (window, like) in windows.items():
        shape = (window.shape[-2], like.shape[3])
        if window.shape not in (shape, (query.shape[1], *shape)):
            raise ValueError(
                f"{name} has shape {window.shape}; it must be (m, {shape[1]}), shared by the "
                f"heads, or ({query.shape[1]}, m, {shape[1]})"
            )
    if value_window is not None and value_window.shape[-2] != key_window.shape[-2]:
        raise ValueError(
            f"key_window has {key_window.shape[-2]} rows, value_window has "
            f"{value_window.shape[-2]}: both need the same m; a smaller one gets rows of zeros in "
            f"front"
        )
