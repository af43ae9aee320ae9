"""A small random Transformer run by CTranslate2, and the same by ours, decoded chunk by chunk."""

import numpy as np
import pytest
from peers.layers import layer_norm

from relpos_np import attention_forward
from relpos_np.heads import merge_heads, split_heads

ctranslate2 = pytest.importorskip(
    "ctranslate2", reason="ctranslate2 is not installed: pip install 'relpos-np[peers]'"
)

pytestmark = pytest.mark.peers
MODEL_DIM, NUM_HEADS, HIDDEN, K = 12, 3, 10, 2
SPECIAL = ("<unk>", "<s>", "</s>")
VOCABULARY = [*SPECIAL, *(f"w{number}" for number in range(15))]
SOURCE = [4, 9, 3, 17, 12, 8, 4]
PROMPTS = {"one by one": [], "after a prompt of five": [5, 11, 3, 16, 9], "after one token": [7]}


def build_spec(rng):
    """One encoder and one decoder layer with random weights, and those weights by name."""
    spec = ctranslate2.specs.TransformerSpec.from_config(
        1, NUM_HEADS, with_relative_position=True, pre_norm=True
    )
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = False
    weights, head_dim = {}, MODEL_DIM // NUM_HEADS

    def put(owner, attribute, name, *shape):
        weights[name] = (rng.normal(size=shape) * 0.7).astype(np.float32)
        setattr(owner, attribute, weights[name])

    def norm(owner, name):
        put(owner, "gamma", f"{name}.gamma", MODEL_DIM)
        put(owner, "beta", f"{name}.beta", MODEL_DIM)

    def linear(owner, name, out, inner):
        put(owner, "weight", f"{name}.weight", out, inner)
        put(owner, "bias", f"{name}.bias", out)

    for side in ("encoder", "decoder"):
        part = getattr(spec, side)
        embeddings = part.embeddings[0] if side == "encoder" else part.embeddings
        put(embeddings, "weight", f"{side}.embeddings", len(VOCABULARY), MODEL_DIM)
        layer, attentions = part.layer[0], {"self_attention": (3, 1)}
        if side == "decoder":
            attentions["attention"] = (1, 2, 1)
            linear(part.projection, "projection", len(VOCABULARY), MODEL_DIM)
        for attention, widths in attentions.items():
            owner, name = getattr(layer, attention), f"{side}.{attention}"
            norm(owner.layer_norm, f"{name}.norm")
            for number, width in enumerate(widths):
                linear(owner.linear[number], f"{name}.{number}", width * MODEL_DIM, MODEL_DIM)
        for kind in ("keys", "values"):
            put(layer.self_attention, f"relative_position_{kind}", f"{side}.{kind}",
                2 * K + 1, head_dim)
        norm(layer.ffn.layer_norm, f"{side}.ffn.norm")
        linear(layer.ffn.linear_0, f"{side}.ffn.0", HIDDEN, MODEL_DIM)
        linear(layer.ffn.linear_1, f"{side}.ffn.1", MODEL_DIM, HIDDEN)
        norm(part.layer_norm, f"{side}.norm")
    return spec, weights


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The translator and its weights."""
    spec, weights = build_spec(np.random.default_rng(4))
    spec.register_source_vocabulary(VOCABULARY)
    spec.register_target_vocabulary(VOCABULARY)
    spec.validate()
    folder = tmp_path_factory.mktemp("ctranslate2")
    spec.save(str(folder))
    translator = ctranslate2.Translator(str(folder), device="cpu", compute_type="float32",
                                        intra_threads=1)
    return translator, weights


def apply(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normalised(x, weights, name):
    return layer_norm(x, weights[f"{name}.gamma"], weights[f"{name}.beta"])


def feed_forward(x, weights, side):
    hidden = apply(normalised(x, weights, f"{side}.ffn.norm"), weights, f"{side}.ffn.0")
    return x + apply(np.maximum(hidden, 0), weights, f"{side}.ffn.1")


def self_attention(x, weights, side, cache=None):
    """With `cache`, a list of the keys and values so far, the queries come after them."""
    name, start = f"{side}.self_attention", 0
    projected = apply(normalised(x, weights, f"{name}.norm"), weights, f"{name}.0")
    query, key, value = (split_heads(part, NUM_HEADS) for part in np.split(projected, 3, axis=-1))
    mask = None
    if cache is not None:
        start = cache[0].shape[2]
        key = np.concatenate([cache[0], key], axis=2)
        value = np.concatenate([cache[1], value], axis=2)
        cache[:] = key, value
        mask = np.arange(key.shape[2]) <= start + np.arange(query.shape[2])[:, np.newaxis]
    attended, _ = attention_forward(
        query, key, value, weights[f"{side}.keys"], weights[f"{side}.values"],
        mask=mask, query_start=start,
    )
    return x + apply(merge_heads(attended), weights, f"{name}.1")


def encode(weights, tokens):
    x = weights["encoder.embeddings"][tokens][np.newaxis]
    x = feed_forward(self_attention(x, weights, "encoder"), weights, "encoder")
    return normalised(x, weights, "encoder.norm")


def decode(weights, memory, tokens, cache):
    """Logits of the tokens of one chunk, whose keys and values join the cache."""
    x = weights["decoder.embeddings"][tokens][np.newaxis]
    x = self_attention(x, weights, "decoder", cache)
    query = apply(normalised(x, weights, "decoder.attention.norm"), weights, "decoder.attention.0")
    both = np.split(apply(memory, weights, "decoder.attention.1"), 2, axis=-1)
    query, key, value = (split_heads(part, NUM_HEADS) for part in (query, *both))
    attended, _ = attention_forward(query, key, value, query_start=0)
    x = x + apply(merge_heads(attended), weights, "decoder.attention.2")
    x = normalised(feed_forward(x, weights, "decoder"), weights, "decoder.norm")
    return apply(x, weights, "projection")[0]


def empty_cache():
    return [np.zeros((1, NUM_HEADS, 0, MODEL_DIM // NUM_HEADS), np.float32) for _ in range(2)]


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_cached_decoding_equals_ctranslate2_step_by_step(model, prompt):
    translator, weights = model
    result = translator.translate_batch(
        [[VOCABULARY[token] for token in SOURCE]],
        target_prefix=[[VOCABULARY[token] for token in prompt]] if prompt else None,
        beam_size=1, min_decoding_length=9, max_decoding_length=9, return_logits_vocab=True,
    )[0]
    generated = [VOCABULARY.index(token) for token in result.hypotheses[0]]
    theirs = np.array(result.logits[0])
    assert generated[: len(prompt)] == prompt

    memory, cache = encode(weights, SOURCE), empty_cache()
    chunks = [[1, *prompt], *([token] for token in generated[len(prompt) : -1])]
    ours = np.concatenate([decode(weights, memory, chunk, cache) for chunk in chunks])
    assert len(theirs) == len(generated) == len(ours)
    allowed = theirs > -1e30  # it forbids the end before the least length
    np.testing.assert_allclose(ours[allowed], theirs[allowed], rtol=0, atol=1e-5)
    chosen = theirs.argmax(axis=-1)[len(prompt) :]
    np.testing.assert_array_equal(chosen, generated[len(prompt) :])


@pytest.mark.parametrize("chunks", [[1] * 10, [6, 1, 1, 1, 1], [4, 6]], ids=str)
def test_our_chunks_equal_our_full_pass(model, chunks):
    weights = {name: array.astype(np.float64) for name, array in model[1].items()}
    tokens = [1, 5, 11, 3, 16, 9, 4, 4, 8, 13]
    memory = encode(weights, SOURCE)
    full = decode(weights, memory, tokens, [part.astype(np.float64) for part in empty_cache()])
    cache, parts, start = [part.astype(np.float64) for part in empty_cache()], [], 0
    for length in chunks:
        parts.append(decode(weights, memory, tokens[start : start + length], cache))
        start += length
    np.testing.assert_allclose(np.concatenate(parts), full, rtol=0, atol=1e-12)


def test_the_table_matters_in_this_comparison(model):
    weights = dict(model[1])
    memory, tokens = encode(weights, SOURCE), [1, 5, 11, 3, 16]
    right = decode(weights, memory, tokens, empty_cache())
    weights["decoder.keys"] = weights["decoder.keys"][::-1]
    assert np.abs(decode(weights, memory, tokens, empty_cache()) - right).max() > 1e-2
