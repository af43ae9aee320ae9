"""Every encoding against its paper's formula, pair by pair in plain Python."""

import math
from fractions import Fraction

import numpy as np
import pytest
from encoding_cases import HEAD_DIM, HEADS, VALUE_DIM, causal, heads

from relpos_np import attention_forward, conventions, encodings
from relpos_np.encodings.relative_shift import relative_shift, relative_shift_two_directional
from relpos_np.encodings.transformer_xl import distances

TOLERANCE = 1e-12
QUERY_LEN, KEY_LEN = 4, 9
OFFSET = KEY_LEN - QUERY_LEN


@pytest.fixture
def rng():
    return np.random.default_rng(1706)


def pair_by_pair(logit, query, key):
    """``logit(b, h, i, j, position of the query)`` for every pair."""
    out = np.zeros((*query.shape[:3], key.shape[2]))
    for b, h, i, j in np.ndindex(out.shape):
        out[b, h, i, j] = logit(b, h, i, j, OFFSET + i)
    return out


def visible(array):
    """Only keys at or before the query; the rest of a one-directional shift is garbage."""
    return np.where(causal(QUERY_LEN, KEY_LEN, OFFSET), array, 0)


# sinusoidal and learned


def test_sinusoids_are_sines_and_cosines_of_the_position():
    encoding = encodings.sinusoidal_encoding(range(-3, 40), 8)
    halves = encodings.sinusoidal_encoding(range(-3, 40), 8, layout="halves")
    for row, position in enumerate(range(-3, 40)):
        for t in range(4):
            angle = position / 10000 ** (2 * t / 8)
            expected = [math.sin(angle), math.cos(angle)]
            np.testing.assert_allclose(encoding[row, 2 * t : 2 * t + 2], expected, atol=1e-14)
            np.testing.assert_allclose(halves[row, [t, t + 4]], expected, atol=1e-14)


def test_sinusoids_start_where_they_are_told(rng):
    x = rng.normal(size=(2, 9, 6))
    later = encodings.sinusoidal_forward(x[:, 4:], query_start=4)
    np.testing.assert_array_equal(later, encodings.sinusoidal_forward(x)[:, 4:])


# T5

PUBLISHED = {  # 32 buckets, max_distance 128
    True: {-128: 15, -16: 10, -8: 8, -1: 1, 0: 0, 1: 17, 8: 24, 16: 26, 128: 31},
    False: {-128: 31, -64: 26, -16: 16, 0: 0, 1: 0, 50: 0},
}


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_are_the_published_ones(bidirectional):
    expected = PUBLISHED[bidirectional]
    got = encodings.t5_bucket(list(expected), bidirectional=bidirectional)
    np.testing.assert_array_equal(got, list(expected.values()))


def exact_t5_bucket(relative_position, num_buckets, max_distance, bidirectional):
    """The same with whole numbers: floor(log) is the largest step whose power still fits."""
    first, distance = 0, max(-relative_position, 0)
    if bidirectional:
        num_buckets //= 2
        first, distance = num_buckets * (relative_position > 0), abs(relative_position)
    m = num_buckets // 2
    if distance < m:
        return first + distance
    ratio, whole = Fraction(distance, m), Fraction(max_distance, m)
    step = max(s for s in range(num_buckets - m + 1) if whole**s <= ratio ** (num_buckets - m))
    return first + min(m + step, num_buckets - 1)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("num_buckets", "max_distance"),
    [(32, 128), (16, 64), (8, 20), (64, 256), (10, 81), (6, 48), (12, 96), (24, 768), (4, 9),
     (9, 128), (36, 32)],
)
def test_t5_buckets_equal_exact_arithmetic(num_buckets, max_distance, bidirectional):
    positions = np.arange(-2 * max_distance, 2 * max_distance + 1)
    expected = [
        exact_t5_bucket(int(r), num_buckets, max_distance, bidirectional) for r in positions
    ]
    got = encodings.t5_bucket(positions, num_buckets, max_distance, bidirectional)
    np.testing.assert_array_equal(got, expected)


def test_t5_adds_one_number_per_head_and_bucket_without_a_scale(rng):
    query, key, value = heads(rng, QUERY_LEN, KEY_LEN)
    table = rng.normal(size=(8, HEADS))
    _, cache = encodings.t5_forward(
        query, key, value, table, max_distance=6, bidirectional=False, query_start=OFFSET
    )
    expected = pair_by_pair(
        lambda b, h, i, j, position: query[b, h, i] @ key[b, h, j]
        + table[exact_t5_bucket(j - position, 8, 6, False), h],
        query, key,
    )
    np.testing.assert_allclose(cache.attend.logits, expected, rtol=0, atol=TOLERANCE)


# ALiBi


def test_alibi_slopes_are_the_published_ones():
    np.testing.assert_array_equal(encodings.alibi_slopes(3), [1 / 16, 1 / 256, 1 / 4])
    np.testing.assert_array_equal(encodings.alibi_slopes(8), [2.0**-h for h in range(1, 9)])
    twelve = [2.0**-h for h in range(1, 9)] + [2 ** -(h + 0.5) for h in range(4)]
    np.testing.assert_allclose(encodings.alibi_slopes(12), twelve, rtol=1e-15)
    np.testing.assert_array_equal(encodings.alibi_slopes(1), [2.0**-8])


@pytest.mark.parametrize("form", ["key", "last"])
@pytest.mark.parametrize("masked", [True, False])
def test_the_three_forms_of_alibi_give_the_same_weights(form, masked, rng):
    query, key, value = heads(rng, QUERY_LEN, KEY_LEN)
    mask = causal(QUERY_LEN, KEY_LEN, OFFSET) if masked else None
    options = {"query_start": OFFSET, "mask": mask}
    _, distance = encodings.alibi_forward(query, key, value, **options)
    _, other = encodings.alibi_forward(query, key, value, form=form, **options)
    assert np.abs(distance.bias - other.bias).max() > 0.1
    np.testing.assert_allclose(other.attend.weights, distance.attend.weights, rtol=0, atol=1e-14)


def test_an_alibi_step_after_four_cached_tokens_counts_back_from_the_last():
    np.testing.assert_array_equal(
        encodings.alibi_steps(1, 5, query_start=4), [[-4, -3, -2, -1, 0]]
    )


def test_alibi_subtracts_a_slope_per_step_after_the_scale(rng):
    query, key, value = heads(rng, QUERY_LEN, KEY_LEN)
    slopes = [1 / 16, 1 / 256, 1 / 4]
    _, cache = encodings.alibi_forward(
        query, key, value, form="symmetric", query_start=OFFSET
    )
    expected = pair_by_pair(
        lambda b, h, i, j, position: query[b, h, i] @ key[b, h, j] / math.sqrt(HEAD_DIM)
        - slopes[h] * abs(j - position),
        query, key,
    )
    np.testing.assert_allclose(cache.attend.logits, expected, rtol=0, atol=TOLERANCE)


# RoPE


def as_complex(x, layout):
    """Pairs of coordinates as complex numbers, which a rotation multiplies by exp(i angle)."""
    half = x.shape[-1] // 2
    first, second = (x[..., :half], x[..., half:]) if layout == "half" else (
        x[..., 0::2], x[..., 1::2]
    )
    return first + 1j * second


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rope_scores_depend_on_the_distance_alone(layout, rng):
    # Re(q conj(k) exp(i theta (position - j))): su et al.'s equation (12), without a rotation
    query, key, value = heads(rng, QUERY_LEN, KEY_LEN)
    _, cache = encodings.rope_forward(query, key, value, layout=layout, query_start=OFFSET)
    q, k = as_complex(query, layout), as_complex(key, layout)
    theta = [10000 ** (-2 * t / HEAD_DIM) for t in range(HEAD_DIM // 2)]
    expected = pair_by_pair(
        lambda b, h, i, j, position: sum(
            (q[b, h, i, t] * k[b, h, j, t].conj() * np.exp(1j * theta[t] * (position - j))).real
            for t in range(HEAD_DIM // 2)
        ) / math.sqrt(HEAD_DIM),
        query, key,
    )
    np.testing.assert_allclose(cache.attend.logits, expected, rtol=0, atol=TOLERANCE)


def test_a_permutation_of_the_columns_turns_interleaved_rope_into_half_split(rng):
    query, key, value = heads(rng)
    order = encodings.interleaved_to_half(HEAD_DIM)
    angle = encodings.rope_angle(range(7), HEAD_DIM)
    np.testing.assert_array_equal(
        encodings.rotate(query, angle, "interleaved")[..., order],
        encodings.rotate(query[..., order], angle, "half"),
    )
    interleaved, _ = encodings.rope_forward(query, key, value, layout="interleaved")
    half, _ = encodings.rope_forward(query[..., order], key[..., order], value, layout="half")
    np.testing.assert_allclose(half, interleaved, rtol=0, atol=TOLERANCE)
    mixed, _ = encodings.rope_forward(query, key, value, layout="half")
    assert np.abs(mixed - interleaved).max() > 1e-2


def test_angles_are_right_at_positions_where_half_precision_loses_them(rng):
    # The angle of position 1857 rounded to float16 is off by more than a radian.
    x = rng.normal(size=(1, 8)).astype(np.float16)
    got = encodings.rotate(x, encodings.rope_angle([1857], 8)).astype(float)
    turn = np.exp(1j * 1857 * 10000.0 ** -(np.arange(4) / 4))
    expected = as_complex(x.astype(float), "half") * turn
    np.testing.assert_allclose(as_complex(got, "half"), expected, atol=5e-3)


# Shifts


@pytest.mark.parametrize(("query_len", "key_len"), [(1, 1), (5, 5), (3, 7), (1, 6)])
def test_the_shift_reads_the_column_of_the_distance(query_len, key_len):
    by_distance = np.arange(1, query_len * key_len + 1).reshape(query_len, key_len)
    shifted = relative_shift(by_distance)
    for i, j in np.argwhere(causal(query_len, key_len, key_len - query_len)):
        assert shifted[i, j] == by_distance[i, query_len - 1 - i + j]


@pytest.mark.parametrize(("query_len", "key_len"), [(1, 1), (5, 5), (3, 7), (1, 6), (4, 2)])
def test_the_two_directional_shift_reads_every_pair_right(query_len, key_len):
    columns = key_len + query_len
    by_distance = np.arange(query_len * columns).reshape(query_len, columns)
    shifted = relative_shift_two_directional(by_distance)
    assert shifted.shape == (query_len, key_len)
    for i, j in np.ndindex(query_len, key_len):
        assert shifted[i, j] == by_distance[i, query_len - i + j]


@pytest.mark.parametrize(("length", "foreign"), [(3, 1), (5, 6), (9, 28)])
def test_above_the_diagonal_of_the_shift_stand_numbers_of_the_next_row(length, foreign):
    by_distance = np.arange(1, length * length + 1).reshape(length, length)
    above = relative_shift(by_distance)[~causal(length, length)]
    assert np.count_nonzero(above) == foreign
    row_of = (above[above > 0] - 1) // length
    np.testing.assert_array_equal(row_of, [
        i + 1 for i in range(length) for j in range(i + 2, length)
    ])


# Transformer-XL


@pytest.mark.parametrize("two_directional", [False, True])
def test_transformer_xl_adds_four_products(two_directional, rng):
    query, key, value = heads(rng, QUERY_LEN, KEY_LEN)
    weight = rng.normal(size=(HEADS, 8, HEAD_DIM))
    u, v = rng.normal(size=(2, HEADS, HEAD_DIM))
    _, cache = encodings.transformer_xl_forward(
        query, key, value, weight, u, v, two_directional=two_directional, query_start=OFFSET
    )
    waves = [10000 ** (-2 * t / 8) for t in range(4)]

    def logit(b, h, i, j, position):
        angles = [(position - j) * wave for wave in waves]
        r = np.array([math.sin(a) for a in angles] + [math.cos(a) for a in angles]) @ weight[h]
        q, k = query[b, h, i], key[b, h, j]
        return (q @ k + q @ r + u[h] @ k + v[h] @ r) / math.sqrt(HEAD_DIM)

    expected, got = pair_by_pair(logit, query, key), cache.attend.logits
    if not two_directional:
        assert np.abs(got - expected).max() > 0.1  # the garbage, which the mask hides:
        assert not cache.attend.weights[..., ~causal(QUERY_LEN, KEY_LEN, OFFSET)].any()
        expected, got = visible(expected), visible(got)
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE)


def test_one_and_two_directional_transformer_xl_agree_under_a_causal_mask(rng):
    query, key, value = heads(rng)
    parameters = rng.normal(size=(HEADS, 8, HEAD_DIM)), *rng.normal(size=(2, HEADS, HEAD_DIM))
    one, _ = encodings.transformer_xl_forward(query, key, value, *parameters)
    two, _ = encodings.transformer_xl_forward(
        query, key, value, *parameters, two_directional=True, mask=causal(7, 7)
    )
    np.testing.assert_allclose(two, one, rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(distances(7, 7), range(6, -1, -1))


# Music Transformer


@pytest.mark.parametrize("per_head", [False, True], ids=["shared", "per head"])
@pytest.mark.parametrize("window", [1, 3, 7, 12])
def test_the_skew_is_shaws_attention_with_a_window_of_the_past(window, per_head, rng):
    query, key, value = heads(rng)
    lead = (HEADS,) if per_head else ()
    key_window = rng.normal(size=(*lead, window, HEAD_DIM))
    value_window = rng.normal(size=(*lead, window, VALUE_DIM))
    skewed, cache = encodings.music_transformer_forward(query, key, value, key_window, value_window)
    tables = [conventions.from_causal_window(table) for table in (key_window, value_window)]
    shaw, _ = attention_forward(query, key, value, *tables, mask=causal(7, 7))
    np.testing.assert_allclose(skewed, shaw, rtol=0, atol=TOLERANCE)
    # The relative term never existed per pair: no intermediate has a head_dim beside i and j.
    assert all(np.ndim(array) <= 4 for array in cache[:-1])
