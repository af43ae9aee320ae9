"""Reference cases: exact inputs, and values and gradients correctly rounded by the oracle.

Inputs are multiples of 2^-6 (times a power of two) with at most 7 significant bits and a sign:
exact in float64, float32, float16 and bfloat16, and short in JSON. They come from Python's own
generator, which promises the same numbers in every version.
"""

import random
from decimal import localcontext

import numpy as np

from relpos_np.decimals import CONTEXT, exact, one_head, pair_mask, select
from relpos_np.naive_backward import naive_attention_backward
from relpos_np.oracle import OracleGrads, oracle_attention, oracle_gradients
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.layer_formula import LAYER_INPUTS
from relpos_np.verify.layer_oracle import oracle_layer, oracle_layer_gradients

LONGEST_FOR_DIFFERENCES = 16  # beyond it, 60-digit differences of the loop would take hours


def dyadic(rng, shape, bits=0):
    """Random multiples of 2^-6 between -127/64 and 127/64, never 0, times ``2 ** bits``."""
    numbers = [rng.choice((-1, 1)) * (1 + int(127 * rng.random())) for _ in range(np.prod(shape))]
    return np.ldexp(np.array(numbers, dtype=float).reshape(shape), bits - 6)


def make_inputs(spec):
    """The inputs of a case, as a dict by the candidate's argument names, and the upstream gradient.

    Returns
    -------
    inputs : dict of str to ndarray or None
    grad_output : ndarray, the shape of the output
    """
    rng = random.Random(f"relpos_np {spec.id}")
    lead = (spec.batch, spec.num_heads)
    rows = (*((spec.num_heads,) if spec.per_head else ()), 2 * spec.k + 1)
    if spec.model_dim:
        widths = spec.num_heads * spec.head_dim, spec.num_heads * spec.value_dim
        shapes = [(spec.batch, spec.query_len, spec.model_dim)]
        shapes += [(spec.model_dim, width) for width in (widths[0], *widths)]
        shapes += [(widths[1], spec.model_dim)]
        output_shape = (spec.batch, spec.query_len, spec.model_dim)
    else:
        shapes = [(*lead, spec.query_len, spec.head_dim), (*lead, spec.key_len, spec.head_dim),
                  (*lead, spec.key_len, spec.value_dim)]
        output_shape = (*lead, spec.query_len, spec.value_dim)
    shapes += [(*rows, spec.head_dim), (*rows, spec.value_dim)]
    names = LAYER_INPUTS if spec.model_dim else INPUTS
    inputs = {name: dyadic(rng, shape) for name, shape in zip(names, shapes, strict=True)}
    if spec.model_dim:  # halves the logits twice, so that they stay below 8
        inputs = {name: a / 4 if name.endswith("weight") else a for name, a in inputs.items()}
    enlarge_logits(inputs, spec.logit_bits)
    for name in ("key", "value"):
        if spec.tables not in ("both", name):
            inputs[f"relative_{name}_table"] = None
    return inputs, dyadic(rng, output_shape)


def enlarge_logits(inputs, bits):
    """Query and key of batch entry 0, and the key table, times ``2 ** bits``; in place.

    The other entry's query shrinks instead, so that its logits stay small.
    """
    if bits:
        inputs["query"][0] *= 2.0**bits
        inputs["query"][1] *= 2.0**-bits
        inputs["key"] *= 2.0**bits
        inputs["relative_key_table"] *= 2.0**bits


def make_mask(spec):
    """The mask of a case, or None."""
    causal = np.tri(spec.query_len, spec.key_len, dtype=bool)
    if spec.mask == "padding":
        length = spec.key_len - 1 - np.arange(spec.batch)
        return (np.arange(spec.key_len) < length[:, np.newaxis])[:, np.newaxis, np.newaxis]
    if spec.mask == "hidden rows":
        mask = np.broadcast_to(causal, (spec.batch, 1, *causal.shape)).copy()
        mask[0, 0, 2] = mask[1, 0, 5] = False
        return mask
    return causal if spec.mask == "causal" else None


def make_expected(spec, inputs, grad_output, *, gradients=True):
    """Correctly rounded stages and gradients of a case, as a dict of arrays."""
    mask = make_mask(spec)
    if spec.model_dim:
        arguments = {"mask": mask, "num_heads": spec.num_heads}
        expected = {"output": oracle_layer(inputs, **arguments)}
        if gradients:
            grads = oracle_layer_gradients(grad_output, inputs, **arguments)
    else:
        arguments = {"mask": mask, "query_start": spec.query_start}
        stages = oracle_attention(*inputs.values(), **arguments)
        kept = ("output",) if spec.query_len > LONGEST_FOR_DIFFERENCES else stages._fields
        expected = {name: getattr(stages, name) for name in kept}
        if gradients:
            # Differences are right to an absolute 1e-39 or so: not enough where a weight is 1e-300.
            too_small = spec.logit_bits > 0
            too_slow = spec.query_len > LONGEST_FOR_DIFFERENCES
            judge = chain_rule_gradients if too_slow or too_small else oracle_gradients
            grads = judge(grad_output, *inputs.values(), **arguments)._asdict()
    if gradients:
        expected |= {f"grad_{name}": grad for name, grad in grads.items() if grad is not None}
    return expected


def chain_rule_gradients(grad_output, *inputs, mask=None, query_start=0):
    """The loop's own backward in 60 digits, summed over batch and heads, rounded once.

    Takes and returns what `oracle_gradients` does, whose differences confirm it on small cases.
    """
    totals = [None if array is None else np.zeros(array.shape, dtype=object) for array in inputs]
    query, key = inputs[:2]
    with localcontext(CONTEXT):
        for b, h in np.ndindex(query.shape[:2]):
            grads = naive_attention_backward(
                exact(grad_output[b, h]), *one_head(inputs, b, h),
                pair_mask(mask, query, key, b, h), query_start,
            )
            for total, grad in zip(totals, grads, strict=True):
                if total is not None:
                    select(total, b, h)[...] += np.array(grad, dtype=object)
    return OracleGrads(*(None if total is None else total.astype(float) for total in totals))


def generate(spec):
    """All arrays of one case by the names under which they are kept."""
    inputs, grad_output = make_inputs(spec)
    mask = make_mask(spec)
    arrays = {f"inputs/{name}": array for name, array in inputs.items() if array is not None}
    if mask is not None:
        arrays["inputs/mask"] = mask
    arrays["grad_output"] = grad_output
    expected = make_expected(spec, inputs, grad_output)
    return arrays | {f"expected/{name}": array for name, array in expected.items()}
