"""What was recorded beside what we compute: one difference per case and output."""

from typing import NamedTuple

import numpy as np
from peers.others import OTHER_PEERS
from peers.recordings import load
from peers.shaw import SHAW_PEERS

PEERS = {**SHAW_PEERS, **OTHER_PEERS}

# Packages that compute their softmax in float32 whatever comes in.
FLOAT32_SOFTMAX = ("fairseq2_shaw", "opennmt_py")

# Outputs of a known defect, never truth: (peer, case) -> names. test_peers.py shows each of them.
DEFECTS = {
    ("tensor2tensor_relative_v1", "q4_k9_f64"): ("cache4",),
    ("opennmt_tf", "cache_L9_k2_f64"): ("chunks5_4",),
    ("opennmt_py", "cache_L9_k2_f64"): ("prefill5_then_1", "chunks5_4"),
    ("hf_bert_relative_key", "cache_L9_f64"): ("prefill5", "chunk4"),
    ("alibi_slopes", "opennmt_py_decode_after_full_pass"): ("bias_row",),
    ("tensor2tensor_music_v2_masked", "L5_masked_variant_without_mask_f64"): ("out",),
}
# A query that may attend nothing: the mean of all values there, zeros here. Shown there too.
FULLY_MASKED = {
    ("opennmt_tf", "fully_masked_row_f64"): ("out",),
    **dict.fromkeys(
        [("lucidrains_conformer", f"{case}_pad_{precision}")
         for case, precision in (("L5_M2", "f32"), ("L17_M4", "f32"), ("L17_M4", "f64"))],
        ("d_to_kv.weight", "d_to_out.weight", "d_to_out.bias", "d_x"),
    ),
}
BFLOAT16 = "falcon(bf16)"
STORED_WIDER = ("bloom",)  # computed in float32, recorded as float64


class Difference(NamedTuple):
    """Of one recorded array from ours."""

    case: str
    output: str
    precision: str  # "float64" or "float32", as the package gave it
    is_gradient: bool
    error: float  # the largest difference over the largest element, or over 1 if that is less


def differences(peer):
    """Every comparable output of a recording, compared."""
    found = []
    for case in load(peer)[1]:
        left_out = (*DEFECTS.get((peer, case.name), ()), *FULLY_MASKED.get((peer, case.name), ()))
        expected = {
            name: array for name, array in case.outputs.items()
            if name not in (*left_out, "generated", BFLOAT16)
        }
        if not expected:
            continue
        got = PEERS[peer](case)
        for name, array in expected.items():
            assert got[name].shape == array.shape, (peer, case.name, name)
            scale = max(1.0, np.abs(array).max(initial=0))
            error = float(np.abs(got[name] - array).max(initial=0) / scale)
            single = array.dtype == np.float32 or case.dtype == "f32" or name in STORED_WIDER
            found.append(Difference(
                case.name, name, "float32" if single else "float64", name.startswith("d_"), error
            ))
    return found


def tolerance(peer, precision):
    """Rounding level of the precision that the package really computed in."""
    if precision == "float32":
        return 1e-5
    return 5e-6 if peer in FLOAT32_SOFTMAX else 1e-12
