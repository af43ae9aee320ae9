"""What every encoding must do: decode from a cache, keep the precision, refuse nonsense."""

import numpy as np
import pytest
from encoding_cases import NAMES, causal, forwards, heads

from relpos_np import encodings

LENGTH = 11
CHUNKS = {"one by one": [1] * LENGTH, "a prompt, then one by one": [5] + [1] * 6, "two": [4, 7]}


@pytest.fixture
def rng():
    return np.random.default_rng(1909)


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize("name", NAMES)
def test_chunks_of_a_cached_decoding_give_the_full_pass(name, chunks, rng):
    forward = forwards(rng)[name]
    query, key, value = heads(rng, LENGTH)
    full, _ = forward(query, key, value, mask=causal(LENGTH, LENGTH))
    parts, start = [], 0
    for length in chunks:
        end = start + length
        output, _ = forward(
            query[:, :, start:end], key[:, :, :end], value[:, :, :end],
            mask=causal(length, end, start), query_start=start,
        )
        parts.append(output)
        start = end
    np.testing.assert_allclose(np.concatenate(parts, axis=2), full, rtol=0, atol=1e-12)


SHIFTED = ("transformer-xl", "transformer-xl two-directional", "music", "music keys only",
           "music per head, wide")
# slope * (j - i), slope * j: one number per query apart, which softmax ignores
NEED_NO_OFFSET = ("alibi", "alibi key", "alibi last")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SHIFTED])
def test_a_forgotten_offset_shows(name, rng):
    # The chunk check could not fail if positions did not matter in it.
    query, key, value = heads(rng, LENGTH)
    query, forward = query[:, :, 4:], forwards(rng)[name]
    right, _ = forward(query, key, value, mask=causal(7, LENGTH, 4), query_start=4)
    wrong, _ = forward(query, key, value, mask=causal(7, LENGTH, 4), query_start=0)
    assert (np.abs(wrong - right).max() > 1e-3) == (name not in NEED_NO_OFFSET)


@pytest.mark.parametrize("name", SHIFTED)
def test_a_shift_refuses_queries_that_are_not_the_last(name, rng):
    query, key, value = heads(rng, LENGTH)
    with pytest.raises(ValueError, match="query_start = 4"):
        forwards(rng)[name](query[:, :, 4:], key, value, query_start=0)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_in_is_single_precision_out(name, rng):
    forward = forwards(rng, np.float32)[name]
    query, key, value = heads(rng, dtype=np.float32)
    output, cache = forward(query, key, value)
    assert output.dtype == np.float32
    for field in cache if name != "shaw" else ():
        for array in field if isinstance(field, tuple) else (field,):
            if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim > 2:
                assert array.dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [0, 1])
def test_shortest_sequences_work(name, length, rng):
    query, key, value = heads(rng, length)
    output, _ = forwards(rng)[name](query, key, value)
    assert output.shape == value.shape
    assert np.isfinite(output).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_fully_masked_query_gets_zeros(name, rng):
    query, key, value = heads(rng)
    mask = causal(7, 7)
    mask[3] = False
    output, _ = forwards(rng)[name](query, key, value, mask=mask)
    np.testing.assert_array_equal(output[:, :, 3], np.zeros_like(output[:, :, 3]))


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_alone_and_the_same_call_gives_the_same_numbers(name, rng):
    forward = forwards(rng)[name]
    arrays = heads(rng)
    copies = [array.copy() for array in arrays]
    first, _ = forward(*arrays)
    second, _ = forward(*arrays)
    np.testing.assert_array_equal(first, second)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("sinusoidal", "learned absolute")])
def test_lengths_that_differ_need_a_query_start(name, rng):
    query, key, value = heads(rng, 3, 7)
    with pytest.raises(ValueError, match="query_start"):
        forwards(rng)[name](query, key, value)


ONES = np.ones((2, 3, 7, 6))
XL = (np.ones((3, 8, 6)), np.ones((3, 6)), np.ones((3, 6)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: encodings.sinusoidal_encoding([0], 5), "even.*got 5"),
        (lambda: encodings.sinusoidal_encoding([0], 4, layout="half"), "'halves', got 'half'"),
        (lambda: encodings.learned_absolute_forward(np.ones((1, 3, 2)), np.ones((5, 2)),
                                                    query_start=3), r"3 \.\. 5 .* 0 \.\. 4"),
        (lambda: encodings.learned_absolute_forward(np.ones((1, 3, 2)), np.ones((5, 3))),
         "model_dim"),
        (lambda: encodings.t5_bucket([0], 3), "3 buckets"),
        (lambda: encodings.t5_bucket([0], 32, 8), "max_distance is 8"),
        (lambda: encodings.t5_forward(ONES, ONES, ONES, np.ones((32, 4))), "3 heads"),
        (lambda: encodings.alibi_steps(2, form="far"), "got 'far'"),
        (lambda: encodings.alibi_forward(ONES, ONES, ONES, np.ones(4)), r"\(4,\).*\(3,\)"),
        (lambda: encodings.alibi_slopes(0), "at least 1, got 0"),
        (lambda: encodings.rope_forward(*[ONES[..., :5]] * 3), "even.*got 5"),
        (lambda: encodings.rope_forward(ONES, ONES, ONES, layout="neox"), "got 'neox'"),
        (lambda: encodings.transformer_xl_forward(ONES, ONES, ONES, XL[0][0], *XL[1:]),
         "position_weight has shape"),
        (lambda: encodings.transformer_xl_forward(ONES, ONES, ONES, XL[0], XL[1][:2], XL[2]),
         r"content_bias has shape \(2, 6\)"),
        (lambda: encodings.transformer_xl_forward(ONES, ONES, ONES, *XL,
                                                  position_encoding=np.ones((14, 8))),
         r"\(14, 8\), it must be \(7, 8\)"),
        (lambda: encodings.transformer_xl_forward(ONES[:, :, 2:], ONES, ONES, *XL, query_start=1),
         "query_start = 2"),
        (lambda: encodings.music_transformer_forward(ONES, ONES, ONES, np.ones((4, 5))),
         r"\(m, 6\)"),
        (lambda: encodings.music_transformer_forward(ONES, ONES, ONES, np.ones((4, 6)),
                                                     np.ones((5, 6))), "4 rows"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


SINGLE = np.float32


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: encodings.sinusoidal_forward([[[1.0, 2.0]]]), "list"),
        (lambda: encodings.sinusoidal_forward(ONES[0], query_start=1.5), "got 1.5"),
        (lambda: encodings.learned_absolute_forward(ONES[0], np.ones((9, 6), SINGLE)), "float32"),
        (lambda: encodings.t5_forward(ONES, ONES, ONES, np.ones((32, 3), SINGLE)), "float32"),
        (lambda: encodings.alibi_forward(ONES, ONES, ONES, np.ones(3, SINGLE)), "float32"),
        (lambda: encodings.rope_forward(ONES, ONES.astype(SINGLE), ONES), "float32"),
        (lambda: encodings.transformer_xl_forward(ONES, ONES, ONES, *XL[:2], np.ones((3, 6), int)),
         "int"),
        (lambda: encodings.music_transformer_forward(ONES, ONES, ONES, np.ones((4, 6), SINGLE)),
         "float32"),
    ],
)
def test_precisions_that_differ_are_refused_in_words(call, words):
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("name", ["t5", "alibi", "rope", "transformer_xl", "music_transformer"])
def test_an_upstream_gradient_of_another_shape_is_refused(name):
    parameters = {"t5": [np.ones((32, 3))], "transformer_xl": XL, "music_transformer": [ONES[0, 0]]}
    forward = getattr(encodings, f"{name}_forward")
    _, cache = forward(ONES, ONES, ONES, *parameters.get(name, ()))
    with pytest.raises(ValueError, match="grad_output has shape"):
        getattr(encodings, f"{name}_backward")(ONES[:1], cache)
