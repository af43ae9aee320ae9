"""``python -m relpos_np encodings``: eight ways to tell attention about position, side by side."""

from typing import NamedTuple

import numpy as np

SUMMARY = "what each position encoding adds and where, its parameters and cost, and its invariance"

# The layer that the table is about, and the smaller one that is measured and drawn.
MODEL_DIM, NUM_HEADS, HEAD_DIM, LENGTH = 512, 8, 64, 512
MAX_RELATIVE_POSITION, NUM_BUCKETS = 16, 32
DISTANCES = (1, 10, 100)
DRAWN_LENGTH, DRAWN_HEAD = 24, 2

HEADINGS = (
    "encoding", "adds", "to", "parameters", "extra multiply-adds", "at distance 1, 10, 100",
    "scores of moved content change by",
)
LEGEND = f"""
For model_dim m = {MODEL_DIM}, {NUM_HEADS} heads of d = {HEAD_DIM}, length L = {LENGTH},
k = {MAX_RELATIVE_POSITION} and {NUM_BUCKETS} buckets; multiply-adds are per head.
Distances are to the left; T5 has as many buckets again for the right. The last column moves the
same six vectors from position 3 to 23 of a sequence and compares all scores among them."""


class Entry(NamedTuple):
    """One encoding in the table."""

    name: str
    adds: str
    where: str
    parameters: str
    cost: str
    at_distances: str
    hides_right: bool  # keys to the right are not defined, or not meant, for it


def add_arguments(parser):
    """No arguments."""


def run(arguments):
    """Print the table; returns 0."""
    print(encodings_markdown())
    print(LEGEND)
    return 0


def encodings_markdown():
    """The comparison as a Markdown table, its last two columns computed and measured."""
    from relpos_np.conventions.listing import markdown_table

    rows = [
        [*entry[:6], invariance_in_words(moved_content(entry.name))] for entry in entries()
    ]
    return markdown_table(HEADINGS, rows)


def entries():
    """What there is to say of each encoding; numbers at the three distances are computed."""
    from relpos_np import encodings
    from relpos_np.positions import clip_relative_position

    past = -np.array(DISTANCES)
    k, window = MAX_RELATIVE_POSITION, LENGTH
    waves = encodings.sinusoidal_encoding([0, *DISTANCES], MODEL_DIM)
    nearness = waves[1:] @ waves[0] / (waves[0] @ waves[0])
    turned = np.cos(encodings.rope_angle(DISTANCES, HEAD_DIM)).mean(axis=1)
    slopes = encodings.alibi_slopes(NUM_HEADS)
    return (
        Entry("sinusoidal", "fixed vector p_i", "input", "0", "m L, once",
              f"p_i . p_j / p_i . p_i = {in_row(nearness)}", False),
        Entry("learned absolute", "trained vector p_i", "input", f"{LENGTH * MODEL_DIM:,}, once",
              "m L, once", "nothing but what training found; no vector beyond the table", False),
        Entry("Shaw", "q_i . a^K_(j-i); weights times a^V_(j-i)", "logits, values",
              f"{2 * (2 * k + 1) * HEAD_DIM:,} a layer", "2 L^2 d, or 2 L (2k+1) d",
              f"rows of {in_row(clip_relative_position(past, k), 'd')}", False),
        Entry("T5", "trained number b_(bucket)", "logits",
              f"{NUM_BUCKETS * NUM_HEADS:,}, once", "L^2 additions",
              f"buckets {in_row(encodings.t5_bucket(past, NUM_BUCKETS), 'd')}", False),
        Entry("Transformer-XL", "u . k_j + (q_i + v) . W r_(i-j)", "logits",
              f"{MODEL_DIM * NUM_HEADS * HEAD_DIM + 2 * NUM_HEADS * HEAD_DIM:,} a layer",
              "L^2 d + L m d", f"vectors W r of {in_row(-past, 'd')}", False),
        Entry("RoPE", "rotation by position", "queries, keys", "0", "4 L d",
              f"q . R q / q . q = {in_row(turned)} on average", False),
        Entry("ALiBi", "slope (j - i)", "logits", "0", "L^2",
              f"from {in_row(slopes[0] * past, 'g')} to {in_row(slopes[-1] * past, '.2g')}", True),
        Entry("Music Transformer", "q_i . a^K_(j-i), by the skew", "logits",
              f"{window * HEAD_DIM:,} a layer", "L^2 d",
              f"rows of {in_row(past, 'd')}, zero beyond {window - 1}", True),
    )


def in_row(numbers, form=".2f"):
    return ", ".join(format(number, form) for number in numbers)


def logits_by_name(x, rng):
    """Logits before the softmax of every encoding, for one input: (batch, length, m) to a dict.

    All share the projections W^Q and W^K; parameters are random.
    """
    from relpos_np import attention_forward, encodings

    length, model_dim, heads, head_dim = x.shape[1], x.shape[2], 3, 8
    projections = rng.normal(size=(2, heads, model_dim, head_dim)) / model_dim**0.5
    query, key = project(x, projections)
    positions = rng.normal(size=(length, model_dim)) / 2
    key_table, window = rng.normal(size=(2, length, head_dim))
    biases = rng.normal(size=(2, heads, head_dim))
    transformer_xl = rng.normal(size=(heads, 16, head_dim)) / 4, *biases
    bias_table = rng.normal(size=(8, heads))
    inputs = {
        "none": x,
        "sinusoidal": encodings.sinusoidal_forward(x),
        "learned absolute": encodings.learned_absolute_forward(x, positions)[0],
    }
    attentions = {
        "T5": encodings.t5_forward(query / head_dim**0.5, key, key, bias_table, max_distance=20),
        "Transformer-XL": encodings.transformer_xl_forward(
            query, key, key, *transformer_xl, two_directional=True
        ),
        "RoPE": encodings.rope_forward(query, key, key),
        "ALiBi": encodings.alibi_forward(query, key, key),
        "Music Transformer": encodings.music_transformer_forward(query, key, key, window),
    }
    return {
        **{name: scaled_products(*project(x, projections)) for name, x in inputs.items()},
        "Shaw": attention_forward(query, key, key, key_table[:9])[1].scaled_logits,
        **{name: cache.attend.logits for name, (_, cache) in attentions.items()},
    }


def project(x, projections):
    """Queries and keys of all heads."""
    return [np.einsum("blm,hmd->bhld", x, weight) for weight in projections]


def scaled_products(query, key):
    """The logits of attention without positions."""
    return np.einsum("bhid,bhjd->bhij", query, key) / query.shape[3] ** 0.5


def moved_content(name, places=(3, 23), content_len=6, length=40):
    """How much the scores among the same vectors change when they stand elsewhere.

    The very same content at both places: with other vectors at each, scores would differ for
    every encoding, and averages would hide what is asked. Only keys at or before their query are
    compared, since some encodings know no others.
    """
    rng = np.random.default_rng(0)
    x, content = rng.normal(size=(1, length, 16)), rng.normal(size=(1, content_len, 16))
    for place in places:
        x[:, place : place + content_len] = content
    logits = logits_by_name(x, rng)[name]
    first, second = (
        np.tril(logits[..., place : place + content_len, place : place + content_len])
        for place in places
    )
    return float(np.abs(first - second).max())


def invariance_in_words(change):
    """Rounding, or a number to two digits."""
    return "0 (rounding)" if change < 1e-12 else f"{change:.1f}"


def encoding_figures():
    """What position alone adds to the logits when every token is the same, by file name."""
    from relpos_np import plots

    rng = np.random.default_rng(5)
    token = rng.normal(size=(1, 1, 16))
    logits = logits_by_name(np.repeat(token, DRAWN_LENGTH, axis=1), rng)
    content = logits.pop("none")
    to_the_right = np.triu(np.ones((DRAWN_LENGTH, DRAWN_LENGTH), dtype=bool), 1)
    hides = {entry.name: entry.hides_right for entry in entries()}
    panels = {
        name: np.where(hides[name] & to_the_right, np.nan, (array - content)[0, DRAWN_HEAD])
        for name, array in logits.items()
    }
    figure = plots.matrix_figure(
        list(panels.values()), titles=list(panels), symbol="added to $e_{ij}$", signed=True,
        limit=2.0, columns=4, panel=2.6,
    )
    return {"encodings_bias.png": figure}
