"""The reference formula cut into steps, so that a mistake can be written as one step changed.

Every step reads what stands in `x` and returns the one thing that it is named after. The letters
are the paper's: ``x.i`` and ``x.j`` are the positions of queries and keys, ``x.k`` is the clip
distance, ``x.key_rows`` and ``x.value_rows`` are the tables, one per head, (h, r, d). Table rows
are fetched by plain NumPy indexing, as in most ports: a row of -1 wraps.
"""

import functools
import math
from types import SimpleNamespace

import numpy as np

from relpos_np.softmax import mask_scores
from relpos_np.verify.hidden_rows import SOFTMAXES

INPUTS = ("query", "key", "value", "relative_key_table", "relative_value_table")


def run_forward(inputs, changes=None, hidden_rows="zeros"):
    """All stages of the formula, with the steps named in `changes` replaced.

    Parameters
    ----------
    inputs : dict
        `query`, `key`, `value`, the two tables (or None), `mask` and `query_start`.
    changes : dict of str to callable, optional
        By the name of the step that they stand in for; each is called with `x`.
    hidden_rows : {"zeros", "nan", "uniform", "unmasked"}
        What a softmax does where everything is masked (see hidden_rows.py).

    Returns
    -------
    SimpleNamespace
        The inputs and every stage, by name.

    Examples
    --------
    >>> inputs = {"query": np.ones((1, 1, 3, 1)), "key": np.ones((1, 1, 3, 1)),
    ...     "value": np.ones((1, 1, 3, 1)), "relative_key_table": np.ones((3, 1)),
    ...     "relative_value_table": np.ones((3, 1)), "mask": None, "query_start": 0}
    >>> run_forward(inputs, {"index": lambda x: np.clip(x.i - x.j, -x.k, x.k) + x.k}).index
    array([[1, 0, 0],
           [2, 1, 0],
           [2, 2, 1]])
    """
    x, changes = prepare(inputs), changes or {}
    x.softmax = functools.partial(SOFTMAXES[hidden_rows], x)
    with np.errstate(all="ignore"):
        for step in FORWARD:
            setattr(x, step.__name__, changes.get(step.__name__, step)(x))
    return x


def prepare(inputs):
    """The inputs as the steps read them: lengths, positions and one table per head."""
    x = SimpleNamespace(**inputs)
    x.num_heads, x.query_len, x.head_dim = x.query.shape[1:]
    x.key_len, x.value_dim = x.value.shape[2:]
    given = [t for t in (x.relative_key_table, x.relative_value_table) if t is not None]
    x.num_rows = given[0].shape[-2] if given else 1
    x.k = x.num_rows // 2
    x.key_rows = rows_per_head(x, x.relative_key_table, x.head_dim)
    x.value_rows = rows_per_head(x, x.relative_value_table, x.value_dim)
    x.met_hidden = False  # whether a softmax had nothing to attend to (hidden_rows.py)
    x.j = np.arange(x.key_len)[np.newaxis, :]
    return x


def rows_per_head(x, table, width):
    """A table as (num_heads, rows, width); a term that is left out is a table of zeros."""
    if table is None:
        table = np.zeros((x.num_rows, width), dtype=x.query.dtype)
    return np.broadcast_to(table, (x.num_heads, *table.shape[-2:]))


# ---- equations (4) and (3), step by step ------------------------------------------------------


def i(x):
    return (x.query_start + np.arange(x.query_len))[:, np.newaxis]


def index(x):
    return np.clip(x.j - x.i, -x.k, x.k) + x.k


def relative_key(x):
    return x.key_rows[:, x.index]


def relative_value(x):
    return x.value_rows[:, x.index]


def content_logits(x):
    return np.einsum("bhid,bhjd->bhij", x.query, x.key)


def relative_logits(x):
    return np.einsum("bhid,hijd->bhij", x.query, x.relative_key)


def scaled_logits(x):
    return (x.content_logits + x.relative_logits) / math.sqrt(x.head_dim)


def scores(x):
    return mask_scores(x.scaled_logits, x.mask)


def weights(x):
    return x.softmax(x.scores)


def content_output(x):
    return np.einsum("bhij,bhjd->bhid", x.weights, x.value)


def relative_output(x):
    return np.einsum("bhij,hijd->bhid", x.weights, x.relative_value)


def output(x):
    return x.content_output + x.relative_output


FORWARD = (
    i, index, relative_key, relative_value, content_logits, relative_logits, scaled_logits,
    scores, weights, content_output, relative_output, output,
)

# The right step in one line, for reports.
RIGHT = {
    "i": "i = query_start, query_start + 1, ..",
    "index": "clip(j - i, -k, k) + k",
    "relative_key": "aK_ij = aK[index_ij]",
    "relative_value": "aV_ij = aV[index_ij]",
    "content_logits": "q_i . k_j",
    "relative_logits": "q_i . aK_ij",
    "scaled_logits": "(q_i . k_j + q_i . aK_ij) / sqrt(head_dim)",
    "scores": "scaled_logits where mask is True, else -inf",
    "weights": "softmax of the scores over the keys j",
    "content_output": "sum_j weights_ij v_j",
    "relative_output": "sum_j weights_ij aV_ij",
    "output": "sum_j weights_ij v_j + sum_j weights_ij aV_ij",
}
