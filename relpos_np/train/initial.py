"""Random parameters to start from; which of them there are decides what the model is made of."""

import numpy as np

POSITION_ROWS = 600  # longest sequence that learned absolute positions can take


def initial_parameters(
    rng, *, vocabulary, classes, model_dim=32, num_heads=4, num_layers=1, learned=False,
    k=None, key_table=True, value_table=True, inner_dim=None, dtype=np.float32,
):
    """A plain dict of arrays, as `model_forward` takes it.

    Parameters
    ----------
    rng : numpy.random.Generator
    vocabulary, classes, model_dim, num_heads, num_layers : int
    learned : bool, optional
        Learned absolute positions.
    k : int, optional
        Relative tables of 2k+1 rows in each layer, shared by its heads; without it, none.
    key_table, value_table : bool, optional
        Leave one of the two out.
    inner_dim : int, optional
        A feed-forward layer of this width in each layer, and layer norms; without it, neither.
    dtype : dtype, optional

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> parameters = initial_parameters(np.random.default_rng(0), vocabulary=16, classes=16, k=2)
    >>> parameters["layer0.relative_key_table"].shape
    (5, 8)
    """
    head_dim = model_dim // num_heads
    parameters = {"token_table": rng.normal(size=(vocabulary, model_dim))}
    if learned:
        parameters["position_table"] = rng.normal(size=(POSITION_ROWS, model_dim))
    for layer in range(num_layers):
        prefix = f"layer{layer}."
        for name in ("query_weight", "key_weight", "value_weight", "output_weight"):
            parameters[prefix + name] = glorot(rng, model_dim, model_dim)
        if k is not None and key_table:
            parameters[prefix + "relative_key_table"] = glorot(rng, 2 * k + 1, head_dim)
        if k is not None and value_table:
            parameters[prefix + "relative_value_table"] = glorot(rng, 2 * k + 1, head_dim)
        if inner_dim is not None:
            parameters |= norm_parameters(prefix + "attention_norm", model_dim)
            parameters |= norm_parameters(prefix + "feed_forward_norm", model_dim)
            parameters[prefix + "inner_weight"] = glorot(rng, model_dim, inner_dim)
            parameters[prefix + "inner_bias"] = np.zeros(inner_dim)
            parameters[prefix + "outer_weight"] = glorot(rng, inner_dim, model_dim)
            parameters[prefix + "outer_bias"] = np.zeros(model_dim)
    if inner_dim is not None:
        parameters |= norm_parameters("final_norm", model_dim)
    parameters["readout_weight"] = glorot(rng, model_dim, classes)
    parameters["readout_bias"] = np.zeros(classes)
    return {name: array.astype(dtype) for name, array in parameters.items()}


def glorot(rng, rows, columns):
    """Uniform within ``sqrt(6 / (rows + columns))`` (Glorot and Bengio 2010, equation 16)."""
    bound = (6 / (rows + columns)) ** 0.5
    return rng.uniform(-bound, bound, size=(rows, columns))


def norm_parameters(name, model_dim):
    return {f"{name}.scale": np.ones(model_dim), f"{name}.shift": np.zeros(model_dim)}
