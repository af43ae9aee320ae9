"""Correct code in other styles is never rejected."""

import math

import numpy as np
import pytest

from relpos_np import (
    attention_backward,
    attention_forward,
    attention_forward_matmul,
    multihead_backward,
    multihead_forward,
)
from relpos_np.fast.gather import gather_forward
from relpos_np.fast.skew import skew_forward
from relpos_np.verify import verify


def rows(table, query_len, key_len, start):
    """Table rows for all pairs, written without the package: (.., i, j, d)."""
    k = table.shape[-2] // 2
    distance = np.arange(key_len) - np.arange(start, start + query_len)[:, None]
    return table[..., np.minimum(np.maximum(distance, -k), k) + k, :]


def per_head(table, num_heads):
    return np.broadcast_to(table, (num_heads, *table.shape[-2:]))


def plain_softmax(scores):
    """The usual three lines; the two bounds turn a row of -inf into zeros."""
    limits = np.finfo(scores.dtype)
    exponentials = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), limits.min))
    return exponentials / np.maximum(exponentials.sum(axis=-1, keepdims=True), limits.tiny)


def merged_five_axes(q, k, v, aK, aV, mask=None, query_start=0):
    """Equation (4) read literally: k_j + a_ij for every pair, then one product."""
    heads, shape = q.shape[1], (q.shape[2], k.shape[2], query_start)
    keys, values = k[:, :, None], v[:, :, None]
    if aK is not None:
        keys = keys + rows(per_head(aK, heads), *shape)
    if aV is not None:
        values = values + rows(per_head(aV, heads), *shape)
    scores = (q[:, :, :, None] * keys).sum(axis=-1) * (1 / math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return (plain_softmax(scores)[..., None] * values).sum(axis=-2)


def batch_length_heads(q, k, v, aK, aV, mask=None, query_start=0):
    """Layout (batch, length, heads, d), the scale folded into the query, a fill of -1e30."""
    shape = (q.shape[2], k.shape[2], query_start)
    q, k, v = (np.ascontiguousarray(a.swapaxes(1, 2)) for a in (q, k, v))
    q = q / math.sqrt(q.shape[-1])
    scores = np.einsum("bqhd,bkhd->bhqk", q, k)
    if aK is not None:
        pairs = rows(per_head(aK, q.shape[2]), *shape)
        scores += np.einsum("bqhd,hqkd->bhqk", q, pairs)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    alpha = plain_softmax(scores)
    out = np.einsum("bhqk,bkhd->bqhd", alpha, v)
    if aV is not None:
        out += np.einsum("bhqk,hqkd->bqhd", alpha, rows(per_head(aV, q.shape[2]), *shape))
    return out.swapaxes(1, 2)


def folded_heads(q, k, v, aK, aV, mask=None, query_start=0):
    """Layout (batch * heads, length, d), products per table row moved to the pairs."""
    b, h, n, d = q.shape
    m, e = v.shape[2:]
    shape = (n, m, query_start)
    fold = [a.reshape(b * h, *a.shape[2:]) for a in (q, k, v)]
    scores = np.matmul(fold[0], fold[1].transpose(0, 2, 1)).reshape(b, h, n, m)
    if aK is not None:
        by_row = np.einsum("bhid,hrd->bhir", q, per_head(aK, h))
        count = aK.shape[-2]
        index = rows(np.arange(count)[:, None], *shape)[..., 0]
        scores = scores + np.take_along_axis(by_row, np.broadcast_to(index, (b, h, n, m)), axis=-1)
    scores = scores / math.sqrt(d)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    alpha = plain_softmax(scores)
    out = np.matmul(alpha.reshape(b * h, n, m), fold[2]).reshape(b, h, n, e)
    if aV is not None:
        pairs = rows(per_head(aV, h), *shape)
        out = out + np.einsum("bhij,hijd->bhid", alpha, pairs, optimize=True)
    return out


def loops(q, k, v, aK, aV, mask=None, query_start=0):
    """Nothing but Python loops, exp first and the division last."""
    out = np.zeros((*q.shape[:3], v.shape[3]), dtype=q.dtype)
    heads, shape = q.shape[1], (q.shape[2], k.shape[2], query_start)
    pairs = [None if t is None else rows(per_head(t, heads), *shape) for t in (aK, aV)]
    for b, h, i in np.ndindex(out.shape[:3]):
        score, allowed = {}, []
        for j in range(k.shape[2]):
            if mask is None or mask[b, h, i, j]:
                allowed.append(j)
                score[j] = q[b, h, i] @ k[b, h, j]
                if aK is not None:
                    score[j] = score[j] + q[b, h, i] @ pairs[0][h, i, j]
                score[j] = score[j] / out.dtype.type(math.sqrt(q.shape[3]))
        total = out.dtype.type(0)
        for j in allowed:
            share = np.exp(score[j] - max(score.values()))
            total = total + share
            out[b, h, i] += share * (v[b, h, j] if aV is None else v[b, h, j] + pairs[1][h, i, j])
        if allowed:
            out[b, h, i] /= total
    return out


def reference(*arrays, mask=None, query_start=None):
    return attention_forward(*arrays, mask=mask, query_start=query_start)


def reference_grads(grad_output, *arrays, mask=None, query_start=None):
    return attention_backward(grad_output, reference(
        *arrays, mask=mask, query_start=query_start)[1])


STYLES = {
    "reference": reference, "matmul": attention_forward_matmul, "gather": gather_forward,
    "skew": skew_forward, "merged": merged_five_axes, "batch, length, heads": batch_length_heads,
    "folded": folded_heads, "loops": loops,
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("style", STYLES)
def test_correct_code_passes_in_every_style(style, dtype):
    # The loops take seconds over 150 positions.
    report = verify(STYLES[style], dtype=dtype, without=["long"] if style == "loops" else [])
    report.assert_ok()
    worst = max(case.ratio for case in report.cases)
    assert worst < 1 / 3, f"correct code must stay well inside its tolerance, is at {worst:.2f}"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_gradients_of_the_reference_pass(dtype):
    report = verify(reference, grads=reference_grads, dtype=dtype)
    report.assert_ok()
    named = [name for reason, names in report.not_excluded for name in names]
    assert "scatter_mean" not in named or dtype == "float16"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_layer_of_the_reference_passes_with_its_gradients(dtype):
    def layer(*arrays, mask=None, num_heads):
        return multihead_forward(*arrays, num_heads=num_heads, mask=mask)[0]

    def grads(grad_output, *arrays, mask=None, num_heads):
        return multihead_backward(
            grad_output, multihead_forward(*arrays, num_heads=num_heads, mask=mask)[1])

    verify(layer, grads=grads, layer=True, dtype=dtype).assert_ok()


def test_a_port_that_wants_arrays_for_absent_tables_and_masks_passes_with_a_remark():
    def strict(q, k, v, aK, aV, mask):
        assert aK.ndim == aV.ndim == 2 or len(aK) == q.shape[1], "tables are arrays here"
        return reference(q, k, v, aK, aV, mask=mask & True, query_start=k.shape[2] - q.shape[2])[0]

    report = verify(strict)
    report.assert_ok()
    assert "refuses None" in str(report)


def test_a_port_without_tables_per_head_passes_and_says_so():
    def shared_only(q, k, v, aK, aV, mask=None, query_start=0):
        if aK is not None and aK.ndim == 3:
            raise ValueError("tables are shared here")
        return reference(q, k, v, aK, aV, mask=mask, query_start=query_start)[0]

    report = verify(shared_only)
    report.assert_ok()
    assert "optional, and it raised ValueError: tables are shared here" in str(report)


class Module:
    """Called as a torch module is: through a method that takes anything."""

    def __call__(self, *arrays, **options):
        return self.forward(*arrays, **options)

    def forward(self, q, k, v, aK, aV, key_padding_mask=None, need_weights=False, attn_mask=None):
        start = k.shape[2] - q.shape[2]
        return reference(q, k, v, aK, aV, mask=attn_mask, query_start=start)[0]


def undisclosed(function):
    """Decorated without functools.wraps: what it takes can only be found by trying."""
    def inner(*arrays, **options):
        return function(*arrays, **options)

    return inner


@undisclosed
def mask_by_position(q, k, v, aK, aV, visible=None):
    return reference(q, k, v, aK, aV, mask=visible, query_start=k.shape[2] - q.shape[2])[0]


@undisclosed
def mask_by_another_name(q, k, v, aK, aV, scale=None, *, attn_mask, query_start):
    return reference(q, k, v, aK, aV, mask=attn_mask, query_start=query_start)[0]


def options_that_are_passed_on(q, k, v, aK, aV, mask=None, **options):
    return Module()(q, k, v, aK, aV, attn_mask=mask, **options)


def two_masks(q, k, v, aK, aV, use_mask_cache=False, mask=None):
    return reference(q, k, v, aK, aV, mask=mask, query_start=k.shape[2] - q.shape[2])[0]


def readme_names_in_another_order(
    relative_value_table, relative_key_table, value, key, query, mask=None, query_start=None,
):
    return reference(query, key, value, relative_key_table, relative_value_table, mask=mask,
                     query_start=query_start)[0]


def readme_names_by_keyword(*, query, key, value, relative_key_table, relative_value_table, mask,
                            query_start):
    return readme_names_in_another_order(
        relative_value_table, relative_key_table, value, key, query, mask, query_start)


@pytest.mark.parametrize("candidate", [
    Module(), mask_by_position, mask_by_another_name, options_that_are_passed_on, two_masks,
    readme_names_in_another_order, readme_names_by_keyword,
], ids=lambda value: getattr(value, "__name__", "Module"))
def test_right_code_is_called_the_way_it_wants_to_be(candidate):
    report = verify(candidate)
    report.assert_ok()
    assert any(case.id == "causal" and case.status == "pass" for case in report.cases)


def test_gradients_by_the_names_of_the_readme_pass():
    def grads(relative_value_table, relative_key_table, value, key, query, mask, query_start,
              grad_output):
        return reference_grads(grad_output, query, key, value, relative_key_table,
                               relative_value_table, mask=mask, query_start=query_start)

    report = verify(reference, grads=grads)
    report.assert_ok()
    assert "grads=" not in str(report)


def test_the_parameter_that_was_given_the_mask_is_named_if_it_had_to_be_guessed():
    def one_left(q, k, v, aK, aV, scale=None):
        return reference(q, k, v, aK, aV, query_start=k.shape[2] - q.shape[2])[0]

    assert "the mask was given to the parameter 'scale'" in str(verify(one_left))
    assert "the mask was given" not in str(verify(two_masks))
