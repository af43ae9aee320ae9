"""J. Beside the classical ones: a letter, decoding with a cache, masks, scales."""

import math

import numpy as np

from relpos_np.verify import formula
from relpos_np.verify.mistakes.mask import under_mask
from relpos_np.verify.mistakes.mistake import MISTAKE, RESCALE, Mistake
from relpos_np.verify.mistakes.scale import logits


def query_of_the_key(x):
    return np.einsum("bhjd,hijd->bhij", x.query, x.relative_key)


def all_at_the_last_position(x):
    return np.full((x.query_len, 1), x.key_len - 1)


def last_row_for_all(x):
    return np.broadcast_to(formula.index(x)[-1:], (x.query_len, x.key_len))


def last_row_for_a_chunk(x):
    return formula.index(x) if x.query_len == x.key_len else last_row_for_all(x)


def always_causal(x):
    return np.where(x.j <= x.i, formula.scores(x), -np.inf)


def finite_fill(x):
    return x.softmax(np.where(x.mask, x.scaled_logits, x.scaled_logits - 1e4))


def shifted_plus_one(x):
    exponentials = np.exp(x.scores - x.scores.max(axis=-1, keepdims=True))
    return exponentials / (1 + exponentials.sum(axis=-1, keepdims=True))


MISTAKES = (
    Mistake(
        "query_j_dot_aK", {"relative_logits": query_of_the_key}, MISTAKE,
        wrote="q_j . aK_ij, for instance einsum('bhjd,ijd->bhij')",
        why="The query is taken at the key's place j; row i needs query i. It fails when "
            "query_len and key_len differ.",
    ),
    Mistake(
        "prefill_last_position", {"i": all_at_the_last_position}, MISTAKE,
        wrote="i = key_len - 1 for every query",
        why="Right for one new token after a cache, the case it was written for; in a prefill of "
            "several tokens every query stands where only the last one does.",
        repair="i = np.arange(query_len) + key_len - query_len",
        seen_in="transformers BERT relative_key 4.54 to 4.57.6, with a cache",
    ),
    Mistake(
        "prefill_one_row", {"index": last_row_for_all}, MISTAKE,
        wrote="index = the last query's row, broadcast to all queries",
        why="One row of distances is built for one new token, and a chunk of several tokens "
            "shares it.",
        repair="index = clip(j - i, -k, k) + k with a row for each query",
        seen_in="OpenNMT-py 3.5.1 prompt prefill; tensor2tensor and OpenNMT-tf with a cache",
    ),
    Mistake(
        "chunk_one_row", {"index": last_row_for_a_chunk}, MISTAKE,
        wrote="index = the last query's row, broadcast, when query_len is not key_len",
        why="As prefill_one_row, in the cached branch only: whole sequences are right.",
        repair="index = clip(j - i, -k, k) + k with a row for each query",
        seen_in="OpenNMT-tf with a cache",
    ),
    Mistake(
        "always_causal", {"scores": always_causal}, MISTAKE,
        wrote="-inf where j > i, whatever the mask says",
        why="A causal mask is built in, so the future stays hidden from an encoder too.",
    ),
    Mistake(
        "finite_mask_fill", {"weights": under_mask(finite_fill, formula.weights)}, MISTAKE,
        wrote="softmax(scaled_logits - 1e4 where masked)",
        why="A hidden key whose logit is 1e4 larger than the others' is attended after all.",
        repair="-inf in place of -1e4",
        seen_in="the VITS family of speech models",
    ),
    Mistake(
        "softmax_plus_one_shifted", {"weights": shifted_plus_one}, MISTAKE,
        wrote="exp(scores - max) / (1 + sum exp(scores - max))",
        why="The extra 1 meets shifted exponentials, so the rows' sums depend on the maximum.",
    ),
    Mistake(
        "scale_model_dim",
        {"scaled_logits": lambda x: logits(x) / math.sqrt(x.num_heads * x.head_dim)}, RESCALE,
        wrote="(q_i . k_j + q_i . aK_ij) / sqrt(num_heads * head_dim)",
        why="The width of the model in place of the width of a head.",
        repair="query = query / sqrt(num_heads)",
        seen_in="sooftware/conformer PR 55",
    ),
    Mistake(
        "scale_key_len", {"scaled_logits": lambda x: logits(x) / math.sqrt(x.key_len)}, MISTAKE,
        wrote="(q_i . k_j + q_i . aK_ij) / sqrt(key_len)",
        why="The wrong axis was asked for its size: the softmax depends on the length.",
    ),
    Mistake(
        "rel_value_scaled_value_dim",
        {"relative_output": lambda x: formula.relative_output(x) / math.sqrt(x.value_dim)},
        RESCALE,
        wrote="sum_j weights_ij aV_ij / sqrt(value head_dim)",
        why="The scale of the logits was applied to the value term as well.",
        repair="relative_value_table = relative_value_table / sqrt(value_dim)",
    ),
)
