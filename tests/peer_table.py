"""The table of recorded packages for the README: ``python tests/peer_table.py`` prints it."""

import math
import re

from peers.compare import PEERS, differences
from peers.recordings import load

from relpos_np.conventions import CONVENTIONS
from relpos_np.conventions.listing import markdown_table

# Recordings of Shaw's attention, by their name in the listing of conventions.
LISTED = {
    "tensor2tensor_relative_v1": "tensor2tensor dot_product_attention_relative",
    "opennmt_tf": "OpenNMT-tf",
    "ctranslate2": "CTranslate2",
    "evelinehong": "evelinehong/Transformer_Relative_Position_PyTorch",
    "opennmt_py": "OpenNMT-py",
    "fairseq2_shaw": "fairseq2",
    "hf_wav2vec2_bert_relative_key": "transformers wav2vec2-bert relative_key",
    "hf_bert_relative_key": "transformers BERT relative_key",
    "lucidrains_conformer": "lucidrains/conformer",
    "hf_vits": "transformers VITS (and Piper, Coqui)",
    "tensor2tensor_music_v2_masked": "tensor2tensor Music Transformer, masked",
}
OTHERS = {
    "hf_transfo_xl": ("transformers Transformer-XL", "r_(i-j), one-directional shift"),
    "hf_xlnet": ("transformers XLNet", "r_(i-j), two-directional shift"),
    "labml_xl": ("labml-nn Transformer-XL", "learned rows for j - i"),
    "xl_rel_shift": ("shifts of Transformer-XL, XLNet, ESPnet", "garbage above the diagonal too"),
    "t5_bucket_torch": ("T5 buckets of three packages", "j - i"),
    "alibi_slopes": ("ALiBi slopes of five packages", "1 to 71 heads"),
    "rope": ("RoPE of eight functions", "half-split and interleaved"),
}
HEADINGS = (
    "implementation", "version", "convention found", "forward, float64", "forward, float32",
    "gradients, float64", "gradients, float32",
)


def peer_table():
    """The Markdown table; numbers are powers of ten that bound what was measured."""
    versions = {entry.implementation: entry for entry in CONVENTIONS}
    rows = []
    for peer in PEERS:
        if peer in LISTED:
            entry = versions[LISTED[peer]]
            facts = [entry.implementation, entry.version, convention_found(entry)]
        else:
            name, convention = OTHERS[peer]
            facts = [name, version(load(peer)[0]["version"]), convention]
        rows.append([*facts, *(bound(error) for error in worst(peer))])
    return markdown_table(HEADINGS, rows)


def convention_found(entry):
    """In a few words, from the listing."""
    converted = f", `{entry.to_paper}`" if entry.to_paper else ", as it is"
    outside = {"zero": ", zero outside", "IndexError": ", no clip"}.get(entry.outside, "")
    return f"{entry.sign}{outside}{converted}"


def version(text):
    """A version alone; a list of packages has them in the recording."""
    return text if re.fullmatch(r"[\d.]+", text) else "several"


def worst(peer):
    """Largest error of forward and gradients in float64 and float32, None where not recorded."""
    found = differences(peer)
    return [
        max((d.error for d in found if (d.is_gradient, d.precision) == (gradient, precision)),
            default=None)
        for gradient in (False, True) for precision in ("float64", "float32")
    ]


def bound(error):
    """The next power of ten: one machine's last digit must not change the table."""
    if error is None:
        return ""
    return "0" if error == 0 else f"1e{math.ceil(math.log10(error))}"


if __name__ == "__main__":
    print(peer_table())
