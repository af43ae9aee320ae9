"""The same attention without a vector per pair, rung by rung, each with its backward.

Read in this order: by_row, gather, skew, skew_causal; then tiled_forward, tiled_backward and the
parts that they name. Every rung has the arguments and results of `relpos_np.attention_forward`
and `relpos_np.attention_backward`. `attention_forward` of this room chooses by size.
"""

from relpos_np.fast.choose import attention_backward, attention_forward
from relpos_np.fast.gather import gather_backward, gather_forward
from relpos_np.fast.skew import skew_backward, skew_forward
from relpos_np.fast.skew_causal import skew_causal_backward, skew_causal_forward
from relpos_np.fast.tiled_backward import tiled_backward
from relpos_np.fast.tiled_forward import tiled_forward

__all__ = [
    "attention_backward",
    "attention_forward",
    "gather_backward",
    "gather_forward",
    "skew_backward",
    "skew_causal_backward",
    "skew_causal_forward",
    "skew_forward",
    "tiled_backward",
    "tiled_forward",
]
