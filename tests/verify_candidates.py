"""Candidates made of a changed formula, for the tests of the verifier."""

from relpos_np.verify.backward_formula import run_backward
from relpos_np.verify.formula import INPUTS, run_forward
from relpos_np.verify.layer_formula import LAYER_INPUTS, run_layer


def as_attention(changes, stages=()):
    """The formula with changed steps, as a stranger's function; returns `stages` too if named."""

    def attention(*arrays, mask=None, query_start=0):
        inputs = dict(zip(INPUTS, arrays, strict=True))
        x = run_forward({**inputs, "mask": mask, "query_start": query_start}, changes)
        return {name: getattr(x, name) for name in (*stages, "output")} if stages else x.output

    return attention


def as_backward(changes):
    """The gradients of the right formula by a changed way back, as a stranger's function."""

    def backward(grad_output, *arrays, mask=None, query_start=0):
        inputs = dict(zip(INPUTS, arrays, strict=True))
        inputs |= {"mask": mask, "query_start": query_start}
        return tuple(run_backward(inputs, grad_output, changes).returned.values())

    return backward


def as_layer(changes):
    """The layer with changed steps, as a stranger's function."""

    def layer(*arrays, mask=None, num_heads):
        inputs = dict(zip(LAYER_INPUTS, arrays, strict=True))
        return run_layer({**inputs, "mask": mask, "num_heads": num_heads}, changes).output

    return layer


def flat(report):
    """The text of a report on one line, to look for words in."""
    return " ".join(str(report).split())
