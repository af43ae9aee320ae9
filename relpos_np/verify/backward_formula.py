"""The way back through formula.py, cut into steps in the same way.

``x.g`` is the gradient of the output. The steps after `grad_logits` are where sums over pairs,
batch and heads happen, which is where most mistakes of a backward pass live.
"""

import math

import numpy as np

from relpos_np.verify.formula import INPUTS, run_forward


def run_backward(inputs, grad_output, changes=None):
    """Gradients of ``sum(grad_output * output)``, with the steps named in `changes` replaced.

    Parameters
    ----------
    inputs : dict
        As for `run_forward`, whose right form is run first.
    grad_output : ndarray, (batch, num_heads, query_len, value head_dim)
    changes : dict of str to callable, optional

    Returns
    -------
    SimpleNamespace
        As from `run_forward`, and every stage of the way back; `x.returned` holds the gradients
        as a dict by the names of the inputs.
    """
    x, changes = run_forward(inputs), changes or {}
    x.g = grad_output
    with np.errstate(all="ignore"):
        for step in BACKWARD:
            setattr(x, step.__name__, changes.get(step.__name__, step)(x))
    return x


def grad_weights(x):
    return (
        np.einsum("bhid,bhjd->bhij", x.g, x.value)
        + np.einsum("bhid,hijd->bhij", x.g, x.relative_value)
    )


def grad_scores(x):
    row_sum = (x.weights * x.grad_weights).sum(axis=-1, keepdims=True)
    return x.weights * (x.grad_weights - row_sum)


def grad_logits(x):
    return x.grad_scores / math.sqrt(x.head_dim)


def grad_query(x):
    return (
        np.einsum("bhij,bhjd->bhid", x.grad_logits, x.key)
        + np.einsum("bhij,hijd->bhid", x.grad_logits, x.relative_key)
    )


def grad_key(x):
    return np.einsum("bhij,bhid->bhjd", x.grad_logits, x.query)


def grad_value(x):
    return np.einsum("bhij,bhid->bhjd", x.weights, x.g)


def grad_relative_key(x):
    return np.einsum("bhij,bhid->hijd", x.grad_logits, x.query)


def grad_relative_value(x):
    return np.einsum("bhij,bhid->hijd", x.weights, x.g)


def grad_rows(x):
    """Both tables' gradients, per head: every pair adds to the row that it had read."""
    return scatter(x, x.grad_relative_key, x.index), scatter(x, x.grad_relative_value, x.index)


def shared(x):
    """A table that the heads share gets the sum over heads; one per head keeps its own."""
    return tuple(
        rows if table is None or table.ndim == 3 else rows.sum(axis=0)
        for rows, table in zip(
            x.grad_rows, (x.relative_key_table, x.relative_value_table), strict=True
        )
    )


def returned(x):
    """The gradients by the names of the inputs; None for a table that was not given."""
    grads = (x.grad_query, x.grad_key, x.grad_value, *x.shared)
    return {
        name: None if getattr(x, name) is None else grad
        for name, grad in zip(INPUTS, grads, strict=True)
    }


def scatter(x, pairs, index):
    """Sum of the pairs' gradients, (h, i, j, d), by table row: (h, r, d)."""
    rows = np.zeros((x.num_heads, x.num_rows, pairs.shape[-1]), dtype=pairs.dtype)
    np.add.at(rows, (slice(None), index), pairs)
    return rows


BACKWARD = (
    grad_weights, grad_scores, grad_logits, grad_query, grad_key, grad_value,
    grad_relative_key, grad_relative_value, grad_rows, shared, returned,
)

# The right step in one line, for reports; dX is the gradient of X.
RIGHT = {
    "grad_weights": "dweights_ij = g_i . (v_j + aV_ij)",
    "grad_scores": "dscores_ij = weights_ij (dweights_ij - sum_l weights_il dweights_il)",
    "grad_logits": "dlogits = dscores / sqrt(head_dim)",
    "grad_query": "dq_i = sum_j dlogits_ij (k_j + aK_ij)",
    "grad_key": "dk_j = sum_i dlogits_ij q_i",
    "grad_value": "dv_j = sum_i weights_ij g_i",
    "grad_relative_key": "daK_ij = sum over the batch of dlogits_ij q_i",
    "grad_relative_value": "daV_ij = sum over the batch of weights_ij g_i",
    "grad_rows": "daK[r] = sum of daK_ij over all pairs with index_ij = r (np.add.at)",
    "shared": "a table that all heads share gets the sum over the heads",
    "returned": "dq, dk, dv, daK, daV, in the order of the inputs",
}
