"""Small structured calls to a candidate, for probe.py."""

from typing import NamedTuple

import numpy as np

from relpos_np.verify.cases import Case
from relpos_np.verify.contract import failure
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.run import call

BATCH, HEADS, LENGTH, WIDTH, K = 2, 3, 7, 8, 2


class Asker(NamedTuple):
    """A candidate, and what went wrong in asking it."""

    candidate: object
    dtype: np.dtype
    time_limit: float
    problems: list

    @property
    def loose(self):
        """A tolerance for sums of a few weights."""
        return 64 * float(np.finfo(self.dtype).eps)

    def first_column(self, what):
        """Ones in the first column, zeros elsewhere: a value, or the rows of a table."""
        array = np.zeros((LENGTH if what == "value" else 2 * K + 1, WIDTH))
        array[:, 0] = 1
        return array

    def inputs(self, query_len=LENGTH, lit_key=None, lit_row=None, lit=0.0, value=None,
               value_rows=None):
        """Equal queries along the first axis; what is lit gets the scaled score `lit`."""
        query, key = np.zeros((query_len, WIDTH)), np.zeros((LENGTH, WIDTH))
        key_rows = np.zeros((2 * K + 1, WIDTH))
        query[:, 0] = 1
        for array, row in ((key, lit_key), (key_rows, lit_row)):
            if row is not None:
                array[row, 0] = lit * np.sqrt(WIDTH)
        value = np.zeros((LENGTH, WIDTH)) if value is None else value
        value_rows = np.zeros((2 * K + 1, WIDTH)) if value_rows is None else value_rows
        heads = (BATCH, HEADS, 1, 1)
        return dict(zip(INPUTS, (
            *(np.tile(array, heads) for array in (query, key, value)), key_rows, value_rows,
        ), strict=True))

    def ask(self, *, mask=None, inputs=None, everything=False, **structure):
        """Output of the first batch entry and head, (i, value head_dim), or None."""
        inputs = inputs or self.inputs(**structure)
        query_len = inputs["query"].shape[2]
        shape = (BATCH, HEADS, query_len, WIDTH)
        case = Case("probe", "", (), False, inputs, mask, LENGTH - query_len, 0,
                    np.zeros(shape), {"output": np.zeros(shape)})
        try:
            stages, _, _ = call(self.candidate, case, self.dtype, self.time_limit)
        except Exception as error:
            self.problems.append(failure(error)[1])
            return None
        output = stages["output"]
        if output.shape != shape:
            self.problems.append(f"an output has shape {output.shape}, expected {shape}")
            return None
        output = output.astype(float)
        return output if everything else output[0, 0]

    def weights(self, **structure):
        """Weights of the first batch entry and head, (i, j), read by one-hot values."""
        output = self.ask(value=np.eye(LENGTH, WIDTH), **structure)
        return None if output is None else output[:, :LENGTH]

    def all_weights(self, *, mask=None, inputs=None):
        """Weights of all batch entries and heads, (b, h, i, j)."""
        inputs = inputs or self.inputs(value=np.eye(LENGTH, WIDTH))
        output = self.ask(inputs=inputs, mask=mask, everything=True)
        return None if output is None else output[..., :LENGTH]

    def random_inputs(self):
        """Random queries and keys, values that show the weights."""
        rng = np.random.default_rng(0)
        inputs = self.inputs(value=np.eye(LENGTH, WIDTH))
        for name in ("query", "key"):
            inputs[name] = np.round(rng.normal(size=inputs[name].shape), 2)
        return inputs
