"""Random parameters to start from; which of them there are decides what the model is made of."""

import numpy as np

MODEL_DIM = 32
POSITION_ROWS = 600  # longest sequence that learned absolute positions can take


def initial_parameters(
    rng, *, vocabulary, classes, model_dim=MODEL_DIM, num_layers=1, learned=False, tables=None,
    inner_dim=None, dtype=np.float32,
):
    """A plain dict of arrays, as `model_forward` takes it.

    Parameters
    ----------
    rng : numpy.random.Generator
    vocabulary, classes, model_dim, num_layers : int
    learned : bool, optional
        Learned absolute positions.
    tables : dict of str to tuple, optional
        Shapes of ``relative_key_table`` and ``relative_value_table`` of each layer; without one,
        its term is left out.
    inner_dim : int, optional
        A feed-forward layer of this width in each layer, and layer norms; without it, neither.
    dtype : dtype, optional

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> parameters = initial_parameters(np.random.default_rng(0), vocabulary=16, classes=4)
    >>> parameters["layer0.query_weight"].shape, parameters["readout_weight"].shape
    ((32, 32), (32, 4))
    """
    parameters = {"token_table": rng.normal(size=(vocabulary, model_dim))}
    if learned:
        parameters["position_table"] = rng.normal(size=(POSITION_ROWS, model_dim))
    for layer in range(num_layers):
        prefix = f"layer{layer}."
        for name in ("query_weight", "key_weight", "value_weight", "output_weight"):
            parameters[prefix + name] = glorot(rng, model_dim, model_dim)
        for name, shape in (tables or {}).items():
            parameters[prefix + name] = glorot(rng, *shape)
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


def glorot(rng, *shape):
    """Uniform within ``sqrt(6 / (rows + columns))`` (Glorot and Bengio 2010, equation 16)."""
    bound = (6 / (shape[-2] + shape[-1])) ** 0.5
    return rng.uniform(-bound, bound, size=shape)


def norm_parameters(name, model_dim):
    return {f"{name}.scale": np.ones(model_dim), f"{name}.shift": np.zeros(model_dim)}
