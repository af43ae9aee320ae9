"""Every encoding as one function of queries, keys and values, for the tests that hold for all.

The absolute encodings change the input of a layer, not its heads: here they are added to the
queries' and keys' vectors head by head, which is what a layer with one head and identity
projections does.
"""

import math
from functools import partial

import numpy as np
from inputs import random_inputs

from relpos_np import attention_forward
from relpos_np import encodings as e
from relpos_np.encodings.attend import attend_forward

HEADS, HEAD_DIM, VALUE_DIM = 3, 6, 5


def absolute_forward(encode, query, key, value, *arguments, mask=None, query_start=None):
    """Attention of queries and keys with their positions added by `encode`."""
    batch, heads = query.shape[:2]

    def encoded(x, start):
        folded = x.reshape(batch * heads, *x.shape[2:])
        return encode(folded, *arguments, query_start=start).reshape(x.shape)

    query, key = encoded(query, query_start or 0), encoded(key, 0)
    logits = np.einsum("bhid,bhjd->bhij", query, key) / math.sqrt(HEAD_DIM)
    output, attend = attend_forward(logits, value, mask)
    return output, (query, key, attend)


def learned(x, table, query_start):
    return e.learned_absolute_forward(x, table, query_start=query_start)[0]


def forwards(rng, dtype=np.float64):
    """By name: a forward of (query, key, value, mask=, query_start=), parameters bound."""
    def random(*shape):
        return rng.normal(size=shape).astype(dtype)

    xl = (random(HEADS, 8, HEAD_DIM), random(HEADS, HEAD_DIM), random(HEADS, HEAD_DIM))
    tables = (random(5, HEAD_DIM), random(5, VALUE_DIM))
    t5 = random(8, HEADS)
    windows = (random(4, HEAD_DIM), random(4, VALUE_DIM))
    wide = (random(HEADS, 30, HEAD_DIM), random(HEADS, 30, VALUE_DIM))
    return {
        "shaw": bind(attention_forward, *tables),
        "sinusoidal": partial(absolute_forward, e.sinusoidal_forward),
        "learned absolute": bind(partial(absolute_forward, learned), random(40, HEAD_DIM)),
        "t5": bind(e.t5_forward, t5, max_distance=9),
        "t5 causal": bind(e.t5_forward, t5, max_distance=9, bidirectional=False),
        "transformer-xl": bind(e.transformer_xl_forward, *xl),
        "transformer-xl two-directional": bind(
            e.transformer_xl_forward, *xl, two_directional=True
        ),
        "rope half": bind(e.rope_forward, layout="half"),
        "rope interleaved": bind(e.rope_forward, layout="interleaved"),
        "alibi": bind(e.alibi_forward),
        "alibi key": bind(e.alibi_forward, form="key"),
        "alibi last": bind(e.alibi_forward, form="last"),
        "alibi symmetric": bind(e.alibi_forward, form="symmetric"),
        "music": bind(e.music_transformer_forward, *windows),
        "music keys only": bind(e.music_transformer_forward, windows[0]),
        "music per head, wide": bind(e.music_transformer_forward, *wide),
    }


def bind(forward, *parameters, **options):
    def bound(query, key, value, **offset):
        return forward(query, key, value, *parameters, **options, **offset)

    return bound


NAMES = tuple(forwards(np.random.default_rng(0)))


def heads(rng, query_len=7, key_len=None, dtype=np.float64):
    """Query, key, value with pairwise different sizes."""
    inputs = random_inputs(
        rng, query_len=query_len, key_len=key_len, num_heads=HEADS, head_dim=HEAD_DIM,
        value_dim=VALUE_DIM, dtype=dtype,
    )
    return inputs["query"], inputs["key"], inputs["value"]


def causal(query_len, key_len, query_start=0):
    """True where the key stands at or before the query, written out."""
    return np.array([
        [j <= query_start + i for j in range(key_len)] for i in range(query_len)
    ]).reshape(query_len, key_len)
