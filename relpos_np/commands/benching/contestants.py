"""Who takes part: the ladder in NumPy, and its peers in PyTorch where that is installed.

A contestant is made for some inputs and offers two calls: forward, and forward with backward to
query, key, value and the tables that it knows.
"""

import importlib.util
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from relpos_np import attention_backward, attention_forward, attention_forward_matmul, fast
from relpos_np.naive import naive_attention
from relpos_np.naive_backward import naive_attention_backward


class Contestant(NamedTuple):
    """A way to compute relative attention."""

    name: str
    terms: str  # which tables it uses: "K and V", "K" or "none"
    about: str
    prepare: Callable  # inputs -> (forward, forward and backward), calls without arguments


def contestants():
    """All that can run here, the reference `TILED` first."""
    from relpos_np.commands.benching import torch_peers

    with_torch = importlib.util.find_spec("torch") is not None
    return numpy_ladder() + (torch_peers.peers() if with_torch else ())


TILED, PLAIN = "tiled", "tiled, no tables"


def numpy_ladder():
    """The rungs of this project, the reference first."""
    return (
        Contestant(TILED, "K and V", "fast.tiled_forward: blocks of queries, virtual tokens",
                   rung(fast.tiled_forward, fast.tiled_backward)),
        Contestant(PLAIN, "none", "the same tiling without relative terms",
                   rung(fast.tiled_forward, fast.tiled_backward, tables=False)),
        Contestant("chosen", "K and V", "fast.attention_forward: the rung for the size",
                   rung(fast.attention_forward, fast.attention_backward)),
        Contestant("skew", "K and V", "fast.skew_forward: pad, reshape, slice",
                   rung(fast.skew_forward, fast.skew_backward)),
        Contestant("gather", "K and V", "fast.gather_forward: products by index",
                   rung(fast.gather_forward, fast.gather_backward)),
        Contestant("matmul", "K and V", "equation (5): one product per query position",
                   rung(attention_forward_matmul, attention_backward)),
        Contestant("einsum", "K and V", "attention_forward: a vector per pair",
                   rung(attention_forward, attention_backward)),
        Contestant("naive", "K and V", "the double loop", naive),
    )


def rung(forward, backward, tables=True):
    """The two calls of a rung with this project's signature."""

    def prepare(inputs):
        arguments = inputs[:5] if tables else inputs[:3]

        def run_forward():
            return forward(*arguments, mask=inputs.mask)[0]

        def run_both():
            output, cache = forward(*arguments, mask=inputs.mask)
            return output, backward(inputs.grad_output, cache)

        return run_forward, run_both

    return prepare


def naive(inputs):
    """The specification, head by head, on plain lists."""
    *arrays, key_table, value_table = (array.tolist() for array in inputs[:5])
    mask = None if inputs.mask is None else inputs.mask.tolist()
    grad_output = inputs.grad_output.tolist()
    heads = [(b, h) for b in range(len(arrays[0])) for h in range(len(arrays[0][0]))]

    def run_forward():
        output = [
            naive_attention(*(array[b][h] for array in arrays), key_table, value_table, mask).output
            for b, h in heads
        ]
        return np.array(output).reshape(inputs.query.shape)

    def run_both():
        for b, h in heads:
            naive_attention_backward(
                grad_output[b][h], *(array[b][h] for array in arrays), key_table, value_table, mask
            )
        return run_forward(), None

    return run_forward, run_both
