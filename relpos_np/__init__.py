"""Relative position representations in self-attention (Shaw, Uszkoreit and Vaswani 2018) in NumPy.

Read in this order: positions, table, softmax, attention, attention_backward, attention_matmul,
multihead; beside them naive (the specification), gradcheck and oracle (the judges).
"""

from relpos_np.attention import AttentionCache, attention_forward
from relpos_np.attention_backward import AttentionGrads, attention_backward
from relpos_np.attention_matmul import attention_forward_matmul
from relpos_np.gradcheck import check_gradients
from relpos_np.multihead import multihead_backward, multihead_forward
from relpos_np.naive import naive_attention
from relpos_np.naive_backward import naive_attention_backward
from relpos_np.positions import clip_relative_position, relative_position_matrix, table_index
from relpos_np.softmax import softmax, softmax_backward
from relpos_np.table import lookup, lookup_backward
from relpos_np.taylor import taylor_slope

__version__ = "0.1.0"

__all__ = [
    "AttentionCache",
    "AttentionGrads",
    "attention_backward",
    "attention_forward",
    "attention_forward_matmul",
    "check_gradients",
    "clip_relative_position",
    "lookup",
    "lookup_backward",
    "multihead_backward",
    "multihead_forward",
    "naive_attention",
    "naive_attention_backward",
    "relative_position_matrix",
    "softmax",
    "softmax_backward",
    "table_index",
    "taylor_slope",
]
