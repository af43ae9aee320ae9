"""The other ways to tell attention about position, a room each, beside Shaw's.

Added to the input: `sinusoidal`, `learned_absolute`. Added to the logits: `t5_bias`, `alibi`,
`transformer_xl`, `music_transformer`. Turned into the queries and keys: `rope`. Each takes
`query_start`, so that the chunks of a cached decoding see what the full pass sees.
"""

from relpos_np.encodings.alibi import alibi_backward, alibi_forward
from relpos_np.encodings.alibi_bias import alibi_slopes, alibi_steps
from relpos_np.encodings.learned_absolute import (
    learned_absolute_backward,
    learned_absolute_forward,
)
from relpos_np.encodings.music_transformer import (
    music_transformer_backward,
    music_transformer_forward,
)
from relpos_np.encodings.rope import rope_backward, rope_forward
from relpos_np.encodings.rotation import interleaved_to_half, rope_angle, rotate
from relpos_np.encodings.sinusoidal import (
    sinusoidal_backward,
    sinusoidal_encoding,
    sinusoidal_forward,
)
from relpos_np.encodings.t5_bias import t5_backward, t5_bucket, t5_forward
from relpos_np.encodings.transformer_xl import transformer_xl_backward, transformer_xl_forward

__all__ = [
    "alibi_backward",
    "alibi_forward",
    "alibi_slopes",
    "alibi_steps",
    "interleaved_to_half",
    "learned_absolute_backward",
    "learned_absolute_forward",
    "music_transformer_backward",
    "music_transformer_forward",
    "rope_angle",
    "rope_backward",
    "rope_forward",
    "rotate",
    "sinusoidal_backward",
    "sinusoidal_encoding",
    "sinusoidal_forward",
    "t5_backward",
    "t5_bucket",
    "t5_forward",
    "transformer_xl_backward",
    "transformer_xl_forward",
]
