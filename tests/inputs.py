"""Random inputs that hide nothing: sizes pairwise different, tables never zero or symmetric."""

import numpy as np

NAMES = ("query", "key", "value", "relative_key_table", "relative_value_table")


def random_inputs(
    rng, *, batch=2, num_heads=3, query_len=7, key_len=None, head_dim=6, value_dim=5, k=2,
    per_head=False, scale=1.0, dtype=np.float64,
):
    """The five inputs of `attention_forward`, as a dict by argument name."""
    key_len = query_len if key_len is None else key_len
    heads = (num_heads,) if per_head else ()
    shapes = (
        (batch, num_heads, query_len, head_dim),
        (batch, num_heads, key_len, head_dim),
        (batch, num_heads, key_len, value_dim),
        (*heads, 2 * k + 1, head_dim),
        (*heads, 2 * k + 1, value_dim),
    )
    return {
        name: (scale * rng.normal(size=shape)).astype(dtype)
        for name, shape in zip(NAMES, shapes, strict=True)
    }


def random_mask(rng, *, batch=2, num_heads=3, query_len=7, key_len=7):
    """Some 30% of the pairs hidden; every row keeps one key, but for one row that keeps none."""
    mask = rng.random((batch, num_heads, query_len, key_len)) < 0.7
    if key_len:
        mask[..., 0] = True
    if query_len:
        mask[0, 0, query_len // 2] = False
    return mask
