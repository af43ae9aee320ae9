"""The tolerance that nobody has to guess: how far correct code may be off, element by element.

A value passes if ``|got - expected| <= u K + eta``, u the unit roundoff of the dtype, eta its
smallest normal number. K, the condition array, is a bound of the rounding errors from the
absolute values of what was added and multiplied (rounded.py): large where terms cancel, small
where they do not. Fixed tolerances fail both ways: one that lets correct float32 through where
terms cancel lets mistakes through where they do not.
"""

import math

import numpy as np

from relpos_np.verify.formula import INPUTS, prepare
from relpos_np.verify.formula import i as query_position
from relpos_np.verify.formula import index as table_row
from relpos_np.verify.layer_formula import split
from relpos_np.verify.rounded import (
    Rounded,
    contract,
    exactly,
    masked_softmax,
    minus,
    over_heads,
    per_pair,
    per_row,
    plus,
    times,
)

# Measured: correct code of many styles stays at least 3 times inside u K (tests/test_verify_*).
MARGIN = 0.5


def attention_condition(inputs, grad_output):
    """Condition arrays of stages, output and gradients.

    Parameters
    ----------
    inputs : dict
        As for `run_forward`, float64.
    grad_output : ndarray, the shape of the output

    Returns
    -------
    dict of str to ndarray
        `content_logits`, `relative_logits`, `scaled_logits`, `scores`, `weights`,
        `content_output`, `relative_output`, `output`, `grad_query`, ...
    """
    arrays = {name: exactly(inputs[name]) for name in INPUTS[:3]}
    stages = forward(inputs, arrays) | {"grad_output": exactly(grad_output)}
    return errors({**stages, **backward(inputs, stages)})


def layer_condition(inputs, grad_output):
    """Condition arrays of the layer's output and gradients, likewise."""
    x, names = exactly(inputs["x"]), ("query", "key", "value")
    weights = {name: exactly(inputs[f"{name}_weight"]) for name in (*names, "output")}
    num_heads = inputs["num_heads"]
    heads = {name: split_heads(contract("bim,mp->bip", x, weights[name]), num_heads)
             for name in names}
    tables = {name: inputs[name] for name in INPUTS[3:]}
    head_inputs = {**{name: heads[name].value for name in names}, **tables,
                   "mask": inputs["mask"], "query_start": 0}
    stages = forward(head_inputs, heads)
    merged = merge_heads(stages["output"])
    upstream = exactly(grad_output)
    stages["grad_output"] = split_heads(
        contract("bio,po->bip", upstream, weights["output"]), num_heads)
    grads = backward(head_inputs, stages)
    result = {"output": contract("bip,po->bio", merged, weights["output"]),
              "grad_output_weight": contract("bip,bio->po", merged, upstream),
              **{name: grad for name, grad in grads.items() if name.endswith("table")}}
    of_x = []
    for name in names:
        grad = merge_heads(grads[f"grad_{name}"])
        result[f"grad_{name}_weight"] = contract("bim,bip->mp", x, grad)
        of_x.append(contract("bip,mp->bim", grad, weights[name]))
    result["grad_x"] = plus(plus(of_x[0], of_x[1]), of_x[2])
    return errors(result)


def forward(inputs, arrays):
    """Equations (4) and (3) with error bounds; `arrays` holds query, key and value."""
    x = prepare(inputs)
    x.i = query_position(x)
    index = table_row(x)
    relative_key = per_pair(exactly(x.key_rows), index)
    relative_value = per_pair(exactly(x.value_rows), index)
    content_logits = contract("bhid,bhjd->bhij", arrays["query"], arrays["key"])
    relative_logits = contract("bhid,hijd->bhij", arrays["query"], relative_key)
    scaled_logits = times(plus(content_logits, relative_logits), 1 / math.sqrt(x.head_dim))
    weights = masked_softmax(scaled_logits, inputs["mask"])
    content_output = contract("bhij,bhjd->bhid", weights, arrays["value"])
    relative_output = contract("bhij,hijd->bhid", weights, relative_value)
    return {
        **arrays, "index": index, "relative_key": relative_key, "relative_value": relative_value,
        "content_logits": content_logits, "relative_logits": relative_logits,
        "scaled_logits": scaled_logits, "scores": scaled_logits, "weights": weights,
        "content_output": content_output, "relative_output": relative_output,
        "output": plus(content_output, relative_output),
    }


def backward(inputs, s):
    """The way back with error bounds; `s` holds the stages and grad_output."""
    g, index = s["grad_output"], s["index"]
    grad_weights = plus(contract("bhid,bhjd->bhij", g, s["value"]),
                        contract("bhid,hijd->bhij", g, s["relative_value"]))
    row_sum = contract("bhij,bhij->bhi", s["weights"], grad_weights)
    row_sum = Rounded(*(part[..., np.newaxis] for part in row_sum))
    grad_scores = contract("bhij,bhij->bhij", s["weights"], minus(grad_weights, row_sum))
    grad_logits = times(grad_scores, 1 / math.sqrt(s["query"].value.shape[3]))
    grads = {
        "grad_query": plus(contract("bhij,bhjd->bhid", grad_logits, s["key"]),
                           contract("bhij,hijd->bhid", grad_logits, s["relative_key"])),
        "grad_key": contract("bhij,bhid->bhjd", grad_logits, s["query"]),
        "grad_value": contract("bhij,bhid->bhjd", s["weights"], g),
    }
    pairs = {"relative_key_table": contract("bhij,bhid->bhijd", grad_logits, s["query"]),
             "relative_value_table": contract("bhij,bhid->bhijd", s["weights"], g)}
    for name, pair_grads in pairs.items():
        table = inputs[name]
        if table is not None:
            rows = per_row(pair_grads, index, table.shape[-2])
            grads[f"grad_{name}"] = rows if table.ndim == 3 else over_heads(rows)
    return grads


def split_heads(array, num_heads):
    return Rounded(*(split(part, num_heads).transpose(0, 2, 1, 3) for part in array))


def merge_heads(array):
    return Rounded(*(part.transpose(0, 2, 1, 3).reshape(len(part), part.shape[2], -1)
                     for part in array))


def errors(stages):
    return {name: MARGIN * stage.error for name, stage in stages.items()
            if isinstance(stage, Rounded)}
