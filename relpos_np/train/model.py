"""Tokens to logits: embedding, perhaps absolute positions, layers, a linear read-out; and back.

What the model is made of is read off the names in its parameters, a plain dict of arrays:
``position_table`` makes positions learned and absolute, ``layer0.relative_key_table`` makes them
relative, ``layer0.inner_weight`` adds a feed-forward layer, and so on.
"""

from typing import NamedTuple

import numpy as np

from relpos_np.attention import attention_forward
from relpos_np.attention_backward import attention_backward
from relpos_np.encodings.learned_absolute import (
    LearnedAbsoluteCache,
    learned_absolute_backward,
    learned_absolute_forward,
)
from relpos_np.encodings.sinusoidal import sinusoidal_forward
from relpos_np.train.block import block_backward, block_forward, norm_backward, norm_forward
from relpos_np.train.embedding import EmbeddingCache, embedding_backward, embedding_forward
from relpos_np.train.layer_norm import LayerNormCache


class ModelCache(NamedTuple):
    """The caches of the parts in order; None for a part that the model does not have."""

    embedding: EmbeddingCache
    learned_absolute: LearnedAbsoluteCache | None
    blocks: tuple  # of BlockCache
    final_norm: LayerNormCache | None
    x: np.ndarray  # (b, length, model_dim)   what the read-out reads
    readout_weight: np.ndarray  # (model_dim, classes)
    logits: np.ndarray  # (b, length, classes)


def model_forward(
    parameters, tokens, *, num_heads, sinusoidal=False, mask=None, attention=attention_forward
):
    """Logits of every class at every position.

    Parameters
    ----------
    parameters : dict of str to ndarray
        As `initial_parameters` makes them.
    tokens : ndarray of int, (batch, length)
    num_heads : int
    sinusoidal : bool, optional
        Add sinusoidal positions to the embedding.
    mask, attention
        As in `multihead_forward`.

    Returns
    -------
    logits : ndarray, (batch, length, classes)
    cache : ModelCache
    """
    x, embedding = embedding_forward(tokens, parameters["token_table"])
    learned_absolute = None
    if "position_table" in parameters:
        x, learned_absolute = learned_absolute_forward(x, parameters["position_table"])
    if sinusoidal:
        x = sinusoidal_forward(x)
    blocks = []
    for layer in range(num_layers(parameters)):
        x, block = block_forward(
            x, layer_parameters(parameters, layer), num_heads=num_heads, mask=mask,
            attention=attention,
        )
        blocks.append(block)
    x, final_norm = norm_forward(x, parameters, "final_norm")
    logits = x @ parameters["readout_weight"] + parameters["readout_bias"]
    return logits, ModelCache(
        embedding=embedding, learned_absolute=learned_absolute, blocks=tuple(blocks),
        final_norm=final_norm, x=x, readout_weight=parameters["readout_weight"], logits=logits,
    )


def model_backward(grad_logits, cache, *, attention=attention_backward):
    """Gradients of `model_forward`, a dict by the names of the parameters.

    `attention` is the backward of the attention that the forward was given.
    """
    # logits = x @ readout_weight + readout_bias
    grads = {
        "readout_weight": np.tensordot(cache.x, grad_logits, axes=((0, 1), (0, 1))),
        "readout_bias": grad_logits.sum(axis=(0, 1)),
    }
    grad_x = grad_logits @ cache.readout_weight.T
    # x = norm(x)
    grad_x = norm_backward(grad_x, cache.final_norm, "final_norm", grads)
    # the layers, last one first
    for layer in reversed(range(len(cache.blocks))):
        grad_x, block_grads = block_backward(grad_x, cache.blocks[layer], attention=attention)
        grads |= {f"layer{layer}.{name}": grad for name, grad in block_grads.items()}
    # x = token rows + position rows; the sinusoidal ones are constant
    if cache.learned_absolute is not None:
        from_positions = learned_absolute_backward(grad_x, cache.learned_absolute)
        grads["position_table"] = from_positions.position_table
    grads["token_table"] = embedding_backward(grad_x, cache.embedding)
    return grads


def num_layers(parameters):
    """How many layers there are parameters for."""
    return sum(name.endswith(".query_weight") for name in parameters)


def layer_parameters(parameters, layer):
    """Those of one layer, without the layer's prefix."""
    prefix = f"layer{layer}."
    return {
        name.removeprefix(prefix): array
        for name, array in parameters.items() if name.startswith(prefix)
    }
