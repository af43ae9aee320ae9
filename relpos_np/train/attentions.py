"""Which attention an encoding needs: all with the arguments and results of `attention_forward`.

Shaw's, and every encoding that is added to the input, take the fast form of the core's attention.
The others stand in the same place. What they have to learn arrives where Shaw's two tables would:
T5's bias table as the first, Transformer-XL's W as the first and u, v together as the second.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from relpos_np.attention_backward import AttentionGrads
from relpos_np.encodings.alibi import alibi_backward, alibi_forward
from relpos_np.encodings.rope import rope_backward, rope_forward
from relpos_np.encodings.t5_bias import t5_backward, t5_forward
from relpos_np.encodings.transformer_xl import transformer_xl_backward, transformer_xl_forward
from relpos_np.fast.gather import gather_backward, gather_forward


class EncodingCache(NamedTuple):
    """The encoding's own cache, and the query, which shows the number of heads."""

    query: np.ndarray  # (b, h, i, d)
    inner: tuple


def attention_pair(encoding):
    """The attention's forward and backward that an encoding needs.

    Parameters
    ----------
    encoding : str
        One of `relpos_np.train.setting.ENCODINGS`.

    Returns
    -------
    forward, backward : callable
        For the `attention` argument of `model_forward` and of `model_backward`.

    Examples
    --------
    >>> attention_pair("shaw")[0].__name__
    'gather_forward'
    """
    if encoding not in OTHERS:
        return gather_forward, gather_backward
    inner_forward, inner_backward = OTHERS[encoding]
    return (
        partial(encoding_forward, inner_forward=inner_forward),
        partial(encoding_backward, inner_backward=inner_backward),
    )


def encoding_forward(query, key, value, first=None, second=None, *, mask=None, inner_forward):
    """Call the encoding with what it has to learn, if anything."""
    own = [parameter for parameter in (first, second) if parameter is not None]
    output, inner = inner_forward(query, key, value, *own, mask=mask)
    return output, EncodingCache(query, inner)


def encoding_backward(grad_output, cache, *, inner_backward):
    """The encoding's gradients, as if they were of the core's attention."""
    query, key, value, *own = inner_backward(grad_output, cache.inner)
    first, second = (*own, None, None)[:2]
    return AttentionGrads(query, key, value, first, second)


def two_biases_forward(query, key, value, position_weight, biases, *, mask=None):
    """Transformer-XL in both directions; u and v are the two rows of `biases`, (2, h, d)."""
    return transformer_xl_forward(
        query, key, value, position_weight, *biases, two_directional=True, mask=mask
    )


def two_biases_backward(grad_output, cache):
    *rest, content_bias, position_bias = transformer_xl_backward(grad_output, cache)
    return *rest, np.stack([content_bias, position_bias])


def scaled_t5_forward(query, key, value, bias_table, *, mask=None):
    """T5 leaves out 1 / sqrt(head_dim); with it, all encodings start from logits of one size."""
    return t5_forward(query / math.sqrt(query.shape[3]), key, value, bias_table, mask=mask)


def scaled_t5_backward(grad_output, cache):
    grad_query, *rest = t5_backward(grad_output, cache)
    return grad_query / math.sqrt(grad_query.shape[3]), *rest


def fixed_slopes_backward(grad_output, cache):
    """ALiBi does not train its slopes: their gradient is left out."""
    return alibi_backward(grad_output, cache)[:3]


OTHERS = {
    "t5": (scaled_t5_forward, scaled_t5_backward),
    "alibi": (partial(alibi_forward, form="symmetric"), fixed_slopes_backward),
    "rope": (rope_forward, rope_backward),
    "transformer_xl": (two_biases_forward, two_biases_backward),
}
