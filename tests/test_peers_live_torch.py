"""Real attention modules in PyTorch, run now: outputs and autograd gradients against ours.

Each becomes a case as in the recordings, so that the same few lines recompute it.
"""

import warnings

import numpy as np
import pytest
from peers.recordings import Case
from peers.shaw import SHAW_PEERS

from relpos_np import encodings

HINT = "is not installed: pip install 'relpos-np[peers]'"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what other packages say at import is not ours to fail on
    torch = pytest.importorskip("torch", reason=f"torch {HINT}")

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]
BATCH, LENGTH, MODEL_DIM = 3, 11, 12
TOLERANCE = {"f64": 1e-12, "f32": 1e-5}


@pytest.fixture
def rng():
    return np.random.default_rng(1803)


def module_from(name):
    """A module of another package, or a skip that says how to install it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name.split('.')[0]} {HINT}")


def wav2vec2_bert():
    package = module_from("transformers.models.wav2vec2_bert.modeling_wav2vec2_bert")
    config = package.Wav2Vec2BertConfig(
        hidden_size=MODEL_DIM, num_attention_heads=2, position_embeddings_type="relative_key",
        left_max_position_embeddings=4, right_max_position_embeddings=2, attention_dropout=0.0,
    )
    return package.Wav2Vec2BertSelfAttention(config)


def vits():
    package = module_from("transformers.models.vits.modeling_vits")
    config = package.VitsConfig(
        hidden_size=MODEL_DIM, num_attention_heads=2, window_size=3, attention_dropout=0.0
    )
    return package.VitsAttention(config)


def bert():
    package = module_from("transformers.models.bert.modeling_bert")
    config = package.BertConfig(
        hidden_size=MODEL_DIM, num_attention_heads=2, max_position_embeddings=LENGTH + 2,
        position_embedding_type="relative_key", attention_probs_dropout_prob=0.0,
    )
    return package.BertSelfAttention(config)


def conformer():
    package = module_from("conformer.conformer")
    return package.Attention(MODEL_DIM, heads=2, dim_head=MODEL_DIM // 2, max_pos_emb=3)


MODULES = {
    "hf_wav2vec2_bert_relative_key": (wav2vec2_bert, "left4_right2"),
    "hf_vits": (vits, "w3"),
    "hf_bert_relative_key": (bert, ""),
    "lucidrains_conformer": (conformer, ""),
}


def run(peer, rng, dtype, masked):
    """The module's output and gradients on random inputs, as a recorded case."""
    make, case_name = MODULES[peer]
    module = make().eval().to(torch.float64 if dtype == "f64" else torch.float32)
    with torch.no_grad():
        for parameter in module.parameters():
            values = rng.normal(size=tuple(parameter.shape)) / 2
            parameter.copy_(torch.from_numpy(values))
    real = next(module.parameters()).dtype
    x = torch.from_numpy(rng.normal(size=(BATCH, LENGTH, MODEL_DIM))).to(real).requires_grad_()
    upstream = rng.normal(size=(BATCH, LENGTH, MODEL_DIM))
    keep, arguments = None, {}
    if masked:
        keep = np.broadcast_to(np.arange(LENGTH) < LENGTH - 3, (BATCH, 1, LENGTH, LENGTH))
        if peer != "lucidrains_conformer":
            additive = np.where(keep, 0.0, -np.inf)
            arguments["attention_mask"] = torch.from_numpy(additive.copy()).to(real)
        else:  # it hides queries too, so it gets no padding here but a mask that hides nothing
            keep = None
            arguments["mask"] = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    result = module(x, **arguments)
    output = result[0] if isinstance(result, tuple) else result
    output.backward(torch.from_numpy(upstream).to(real))
    parameters = {name: p.detach().numpy() for name, p in module.named_parameters()}
    inputs = {"x": x.detach().numpy(), "g": upstream, **parameters}
    if keep is not None:
        inputs["keep"] = keep
    gradients = {f"d_{name}": p.grad.numpy() for name, p in module.named_parameters()}
    outputs = {"out": output.detach().numpy(), "d_x": x.grad.numpy(), **gradients}
    return Case(peer, case_name, dtype, inputs, outputs)


@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("peer", MODULES)
def test_output_and_gradients_of_a_live_module_are_ours(peer, dtype, masked, rng):
    case = run(peer, rng, dtype, masked)
    ours = SHAW_PEERS[peer](case)
    # One scale for all: the gradient of a key's bias is 0 in exact arithmetic, and what stands
    # there instead is the rounding of terms as large as the other gradients.
    scale = max(1.0, *(np.abs(expected).max() for expected in case.outputs.values()))
    for name, expected in case.outputs.items():
        np.testing.assert_allclose(
            ours[name] / scale, expected / scale, rtol=0, atol=TOLERANCE[dtype], err_msg=name
        )


# RoPE, ALiBi and T5 of the packages that have them


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rotations_are_those_of_the_packages(layout, rng):
    x = rng.normal(size=(2, 3, 33, 8))
    tensor = torch.from_numpy(x)
    if layout == "interleaved":
        rotary = module_from("rotary_embedding_torch").RotaryEmbedding(dim=8)
        theirs = rotary.rotate_queries_or_keys(tensor)
    else:
        llama = module_from("transformers.models.llama.modeling_llama")
        angle = torch.from_numpy(encodings.rope_angle(range(33), 8)).repeat(1, 2)[None]
        theirs, _ = llama.apply_rotary_pos_emb(tensor, tensor, angle.cos(), angle.sin())
    ours = encodings.rotate(x, encodings.rope_angle(range(33), 8), layout)
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=1e-5)


def test_x_transformers_rotates_interleaved_pairs(rng):
    package = module_from("x_transformers.x_transformers")
    x = rng.normal(size=(2, 3, 33, 8))
    frequencies, _ = package.RotaryEmbedding(8).forward_from_seq_len(33)
    theirs = package.apply_rotary_pos_emb(torch.from_numpy(x).float(), frequencies)
    ours = encodings.rotate(x, encodings.rope_angle(range(33), 8), "interleaved")
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("heads", [1, 3, 8, 12])
def test_x_transformers_has_our_alibi(heads):
    package = module_from("x_transformers.x_transformers")
    theirs = package.AlibiPositionalBias(heads, total_heads=heads)(4, 9).detach().numpy()
    steps = encodings.alibi_steps(4, 9, query_start=5, form="symmetric")
    ours = encodings.alibi_slopes(heads)[:, np.newaxis, np.newaxis] * steps
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_of_two_packages_has_our_buckets(bidirectional):
    positions = torch.arange(-300, 301)
    ours = encodings.t5_bucket(positions.numpy(), bidirectional=bidirectional)
    t5 = module_from("transformers.models.t5.modeling_t5").T5Attention
    theirs = t5._relative_position_bucket(positions, bidirectional, 32, 128)
    np.testing.assert_array_equal(ours, theirs.numpy())
    package = module_from("x_transformers.x_transformers").RelativePositionBias
    theirs = package._relative_position_bucket(positions, causal=not bidirectional)
    np.testing.assert_array_equal(ours, theirs.numpy())
