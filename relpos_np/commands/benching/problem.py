"""One size of the question, and random inputs for it."""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """The sizes of a call; query and key have the same length."""

    length: int
    batch: int = 1
    num_heads: int = 8
    head_dim: int = 64
    max_relative_position: int = 16
    causal: bool = False
    dtype: str = "float32"

    @property
    def name(self):
        """The sizes in words, but for the length."""
        return (
            f"batch {self.batch}, {self.num_heads} heads, head_dim {self.head_dim}, "
            f"k = {self.max_relative_position}, {self.dtype}{', causal' if self.causal else ''}"
        )


class Inputs(NamedTuple):
    """Arguments of `attention_forward`, and an upstream gradient."""

    query: np.ndarray  # (b, h, i, d)
    key: np.ndarray  # (b, h, j, d)
    value: np.ndarray  # (b, h, j, d)
    relative_key_table: np.ndarray  # (2k+1, d)
    relative_value_table: np.ndarray  # (2k+1, d)
    mask: np.ndarray | None  # (i, j)
    grad_output: np.ndarray  # (b, h, i, d)


def make_inputs(problem, seed=0):
    """Normal random inputs, tables as small as trained ones."""
    rng = np.random.default_rng(seed)
    vectors = problem.batch, problem.num_heads, problem.length, problem.head_dim
    rows = 2 * problem.max_relative_position + 1, problem.head_dim

    def normal(shape, scale=1.0):
        return (scale * rng.normal(size=shape)).astype(problem.dtype)

    return Inputs(
        query=normal(vectors), key=normal(vectors), value=normal(vectors),
        relative_key_table=normal(rows, 0.3), relative_value_table=normal(rows, 0.3),
        mask=np.tri(problem.length, dtype=bool) if problem.causal else None,
        grad_output=normal(vectors),
    )
