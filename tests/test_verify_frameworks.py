"""Functions of torch and JAX tensors: judged as they are, gradients by their own autograd."""

import math

import numpy as np
import pytest

from relpos_np.verify import probe, verify

pytestmark = pytest.mark.peers

# JAX compiles every operation for every shape: a few cases say enough.
FEW = {"torch": [], "jax": ["big", "long", "short", "value_dim", "k_zero", "length_one", "per_head",
                            "one_table", "causal", "fully_masked", "one_query", "cross_offset"]}


def attention(library, where, query, key, value, key_table, value_table, mask, query_start):
    """The same lines for both libraries; `where` keeps scores under the mask."""
    def rows(table):
        k = table.shape[-2] // 2
        distance = np.arange(key.shape[2]) - np.arange(query.shape[2])[:, None] - query_start
        pairs = table[..., np.clip(distance, -k, k) + k, :]
        return pairs if pairs.ndim == 4 else pairs[None]

    scores = library.einsum("bhid,bhjd->bhij", query, key)
    if key_table is not None:
        pairs = library.broadcast_to(rows(key_table), (query.shape[1], *scores.shape[2:],
                                                       query.shape[3]))
        scores = scores + library.einsum("bhid,hijd->bhij", query, pairs)
    scores = scores / math.sqrt(query.shape[3])
    weights = where(scores, mask)
    output = library.einsum("bhij,bhjd->bhid", weights, value)
    if value_table is not None:
        pairs = library.broadcast_to(rows(value_table), (query.shape[1], *scores.shape[2:],
                                                         value.shape[3]))
        output = output + library.einsum("bhij,hijd->bhid", weights, pairs)
    return output


@pytest.fixture(scope="module")
def torch_attention():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def masked_softmax(scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return torch.softmax(scores, dim=-1) * mask.any(-1, keepdim=True)

    def function(query, key, value, key_table, value_table, mask=None, query_start=0):
        return attention(torch, masked_softmax, query, key, value, key_table, value_table, mask,
                         query_start)

    return function


@pytest.fixture(scope="module")
def jax_attention():
    jax = pytest.importorskip("jax", reason="jax is not installed")

    def masked_softmax(scores, mask):
        if mask is None:
            return jax.nn.softmax(scores, axis=-1)
        scores = jax.numpy.where(mask, scores, jax.numpy.finfo(scores.dtype).min)
        return jax.nn.softmax(scores, axis=-1) * mask.any(-1, keepdims=True)

    def function(query, key, value, key_table, value_table, mask=None, query_start=0):
        return attention(jax.numpy, masked_softmax, query, key, value, key_table, value_table,
                         mask, query_start)

    return function


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_a_right_function_passes_with_its_autograd(framework, dtype, request):
    function = request.getfixturevalue(f"{framework}_attention")
    report = verify(function, framework=framework, dtype=dtype, without=FEW[framework])
    report.assert_ok()
    assert "grads" not in str(report.not_excluded)


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_a_detached_table_has_right_outputs_and_is_caught_by_its_gradient(framework, request):
    function = request.getfixturevalue(f"{framework}_attention")

    def detached(query, key, value, key_table, value_table, mask=None, query_start=0):
        if key_table is not None:
            key_table = detach(key_table)
        return function(query, key, value, key_table, value_table, mask, query_start)

    if framework == "torch":
        def detach(tensor):
            return tensor.detach()
    else:
        import jax
        detach = jax.lax.stop_gradient
    report = verify(detached, framework=framework, without=FEW[framework])
    assert (report.verdict, report.exit_code) == ("MISTAKE", 1), str(report)
    assert "the gradient of relative_key_table is zero" in str(report)


def test_a_gather_that_clamps_by_itself_gives_right_outputs_and_is_caught_by_gradients():
    jax = pytest.importorskip("jax", reason="jax is not installed")

    def forgets_the_upper_clip(query, key, value, key_table, value_table, mask=None, query_start=0):
        distance = np.arange(key.shape[2]) - np.arange(query.shape[2])[:, None] - query_start
        index = np.maximum(distance, -(len(key_table) // 2)) + len(key_table) // 2
        scores = query @ key.swapaxes(2, 3) + jax.numpy.einsum(
            "bhid,ijd->bhij", query, key_table[index])
        scores = scores / math.sqrt(query.shape[3])
        weights = jax.nn.softmax(
            scores if mask is None else jax.numpy.where(mask, scores, -jax.numpy.inf), axis=-1)
        return weights @ value + jax.numpy.einsum("bhij,ijd->bhid", weights, value_table[index])

    report = verify(forgets_the_upper_clip, framework="jax", without=[
        *FEW["jax"], "padding"])
    assert report.names == ("right_clipped_pairs_dropped",), str(report)
    assert report.exit_code == 1


def test_a_torch_function_given_as_a_candidate_of_arrays_is_told_how_to_run(torch_attention):
    import torch

    def returns_a_tensor_with_its_graph(*arrays):
        tensors = [a if a is None else torch.from_numpy(a).requires_grad_(a.dtype.kind == "f")
                   for a in arrays]
        return torch_attention(*tensors)

    report = verify(returns_a_tensor_with_its_graph)
    assert (report.verdict, report.exit_code) == ("CANNOT RUN", 4)
    assert "requires grad: return output.detach().numpy(), or say framework='torch'" in str(report)


def test_the_probe_reads_a_torch_function_through_its_adapter(torch_attention):
    from relpos_np.verify.frameworks import adapt

    candidate, _ = adapt(torch_attention, None, "torch")
    read = probe(candidate)
    np.testing.assert_array_equal(read.key_index, read.right_index)
    np.testing.assert_array_equal(read.value_index, read.right_index)


def test_a_torch_module_is_asked_through_its_forward(torch_attention):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Attention(torch.nn.Module):
        def forward(self, query, key, value, key_table, value_table, key_padding_mask=None,
                    attn_mask=None):
            return torch_attention(query, key, value, key_table, value_table, attn_mask,
                                   key.shape[2] - query.shape[2])

    report = verify(Attention(), framework="torch", without="long")
    report.assert_ok()
    assert {case.id: case.status for case in report.cases}["causal"] == "pass"
    assert "grads=" not in str(report)


def test_a_torch_function_may_have_the_inputs_in_another_order(torch_attention):
    def by_name(mask, query_start, *, relative_value_table, relative_key_table, value, key, query):
        return torch_attention(query, key, value, relative_key_table, relative_value_table, mask,
                               query_start)

    report = verify(by_name, framework="torch", without="long")
    report.assert_ok()
    assert "grads=" not in str(report)
