"""The main job: a trained voice's attention, recomputed from the formulas and compared."""

import math
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from relpos_np.attention import AttentionCache, attention_forward
from relpos_np.attention_backward import attention_backward
from relpos_np.commands import add_output_argument
from relpos_np.conventions import from_zero_window
from relpos_np.data import load_voice
from relpos_np.gradcheck import check_gradients
from relpos_np.naive import naive_attention

SUMMARY = "recompute a trained voice's attention, compare it with ONNX Runtime, draw it"

WEIGHTS_LIMIT, OUTPUT_LIMIT, LOOP_LIMIT = 1e-6, 1e-5, 1e-12
GRADIENT_TOKENS = 16  # the complex step takes one forward pass per table element
NEIGHBOURHOOD = 4  # the trained window


class Difference(NamedTuple):
    """One line of the table: the largest difference that was seen, and what is allowed."""

    what: str
    seen: float
    allowed: float


def add_arguments(parser):
    """Options of the command."""
    add_output_argument(parser)


def run(arguments):
    """Run the tour; 0 if every difference is within its limit, else 1."""
    voice = load_voice()
    caches = {number: recompute(layer) for number, layer in voice.layers.items()}
    print(f'A trained text-to-speech voice reads: "{voice.text}"')
    print(f"{len(voice.tokens)} phoneme tokens, 2 heads, head_dim 96; window tables of 9 rows")
    print("become the paper's tables of 11 by a row of zeros at each end (k = 5).\n")

    differences = [
        line for number, layer in voice.layers.items()
        for line in compare_with_recording(number, layer, caches[number])
    ]
    differences.append(compare_with_double_loop(caches[0]))
    differences.append(check_one_gradient(caches[0]))
    print(format_differences(differences))

    for number, cache in caches.items():
        print(describe(number, cache))
    for path in save_figures(voice_figures(voice, caches), arguments.output):
        print(f"wrote {path}")
    return 0 if all(line.seen <= line.allowed for line in differences) else 1


def recompute(layer):
    """All stages of one recorded layer in float64, from equations (3) and (4)."""
    _, cache = attention_forward(
        layer.query.astype(float), layer.key.astype(float), layer.value.astype(float),
        from_zero_window(layer.relative_key_window).astype(float),
        from_zero_window(layer.relative_value_window).astype(float),
    )
    return cache


def compare_with_recording(number, layer, cache):
    """Weights and output of the einsum form against what ONNX Runtime computed."""
    weights = np.abs(cache.weights - layer.weights).max()
    output = np.abs(cache.output - layer.output).max()
    return (
        Difference(f"layer {number}: weights, einsum - ONNX Runtime", weights, WEIGHTS_LIMIT),
        Difference(f"layer {number}: output, einsum - ONNX Runtime", output, OUTPUT_LIMIT),
    )


def compare_with_double_loop(cache):
    """Head 0 by the double loop, one query at a time so that a bar can show the progress."""
    query, key, value = cache.query[0, 0], cache.key[0, 0], cache.value[0, 0]
    tables = cache.relative_key_table.tolist(), cache.relative_value_table.tolist()
    key, value = key.tolist(), value.tolist()
    worst = 0.0
    for i in tqdm(range(len(query)), desc="double loop, head 0", unit="query"):
        stages = naive_attention(query[i : i + 1].tolist(), key, value, *tables, query_start=i)
        for loop_row, einsum_row in (
            (stages.weights[0], cache.weights[0, 0, i]), (stages.output[0], cache.output[0, 0, i])
        ):
            worst = np.maximum(worst, np.abs(loop_row - einsum_row).max())  # lets NaN through
    return Difference("layer 0, head 0: einsum - double loop", worst, LOOP_LIMIT)


def check_one_gradient(cache):
    """The key table's gradient by hand against the complex step, on the first tokens of head 0."""
    inputs = {
        "query": cache.query[:, :1, :GRADIENT_TOKENS], "key": cache.key[:, :1, :GRADIENT_TOKENS],
        "value": cache.value[:, :1, :GRADIENT_TOKENS],
        "relative_key_table": cache.relative_key_table,
        "relative_value_table": cache.relative_value_table,
    }
    output, small_cache = attention_forward(**inputs)
    grad_output = np.random.default_rng(0).normal(size=output.shape)
    gradient = attention_backward(grad_output, small_cache).relative_key_table
    report = check_gradients(
        lambda **moved: attention_forward(**moved)[0],
        inputs, {"relative_key_table": gradient}, grad_output,
    )
    what = f"layer 0: grad of the key table, {gradient.size} elements, by hand - complex step"
    return Difference(what, report.errors[0].error, report.tolerance)


def format_differences(differences):
    """The table, as text."""
    width = max(len(line.what) for line in differences)
    rows = [f"{'largest difference':<{width}}     seen   allowed"]
    rows += [
        f"{line.what:<{width}}  {line.seen:7.1e}   {line.allowed:7.0e}  "
        f"{'ok' if line.seen <= line.allowed else 'TOO LARGE'}"
        for line in differences
    ]
    return "\n".join(rows) + "\n"


def describe(number, cache: AttentionCache):
    """What the figures show of one layer, its head 0, in words, from its numbers."""
    bias = cache.relative_logits[0, 0] / math.sqrt(cache.query.shape[3])
    strongest = bias.flat[np.abs(bias).argmax()]
    near = np.abs(cache.relative_position) <= NEIGHBOURHOOD
    share = (cache.weights[0, 0] * near).sum() / cache.weights[0, 0].sum()
    even = near.mean()
    habit = "looks at its neighbours" if share > even else "looks away from its neighbours"
    return (
        f"Layer {number}, head 0, {habit}: position changes scores by up to {strongest:+.1f}, and\n"
        f"  {share:.0%} of the weight falls within {NEIGHBOURHOOD} tokens, where even attention "
        f"would put {even:.0%}.\n"
    )


def voice_figures(voice, caches):
    """Figures of the recorded layers by file name, each comparing the layers on one scale."""
    from relpos_np import plots

    titles = [f"layer {number}, head 0" for number in caches]
    bias = [cache.relative_logits[0, 0] / math.sqrt(cache.query.shape[3])
            for cache in caches.values()]
    weights = [cache.weights[0, 0] for cache in caches.values()]
    first = slice(0, 20)  # "The quick", with the blanks between the phonemes
    symbol = r"$q_i \cdot a^K_{ij} / \sqrt{d}$"
    return {
        "voice_bias.png": plots.matrix_figure(bias, symbol=symbol, titles=titles),
        "voice_weights.png": plots.matrix_figure(
            weights, symbol=r"$\alpha_{ij}$", titles=titles, limit=0.3
        ),
        "voice_bias_tokens.svg": plots.matrix_figure(
            [matrix[first, first] for matrix in bias], symbol=symbol, titles=titles,
            query_tokens=voice.tokens[first], panel=4.0,
        ),
    }


def save_figures(figures, folder):
    """Write figures by file name into `folder`; yields the paths."""
    from relpos_np import plots

    for name, figure in figures.items():
        yield plots.save_figure(figure, folder / name)
