"""Wrong gradients of right outputs: times a number, of another shape, swapped."""

import pytest
from verify_candidates import as_attention, as_backward, flat

from relpos_np import multihead_backward, multihead_forward
from relpos_np.verify import backward_formula as right
from relpos_np.verify import verify

KEY_TABLE, VALUE_TABLE = "relative_key_table", "relative_value_table"


def changed(name, change):
    """The right gradients, that of one input changed."""
    def returned(x):
        grads = right.returned(x)
        return {**grads, name: None if grads[name] is None else change(grads[name], x)}

    return as_backward({"returned": returned})


def all_over_batch(x):
    return {name: None if grad is None else grad / len(x.query)
            for name, grad in right.returned(x).items()}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("grads", "line"), [
    (changed("query", lambda grad, x: 2 * grad), "query is the right one times 2"),
    (changed("value", lambda grad, x: 0 * grad),
     "value is zero: is it cut off from the loss, detached?"),
    (changed(KEY_TABLE, lambda grad, x: -grad), f"{KEY_TABLE} is the right one times -1"),
    (changed(VALUE_TABLE, lambda grad, x: grad[..., ::-1, :]),
     f"{VALUE_TABLE} is the right one with its rows backwards"),
    (changed(KEY_TABLE, lambda grad, x: grad / x.num_heads),
     f"{KEY_TABLE} is the right one divided by the number of heads"),
    (as_backward({"returned": all_over_batch}), "key is the right one divided by the batch size"),
], ids=["doubled", "zero", "negated", "rows backwards", "over heads", "all over batch"])
def test_a_gradient_times_a_number_is_a_mistake_with_the_number(grads, line, dtype):
    report = verify(as_attention({}), grads=grads, dtype=dtype)
    assert (report.verdict, report.names) == ("MISTAKE", ("gradients_scaled",)), str(report)
    assert f"the gradient of {line}" in flat(report)


def test_a_gradient_that_is_no_multiple_stays_unknown():
    grads = changed("key", lambda grad, x: grad + 0.1 * abs(grad))
    report = verify(as_attention({}), grads=grads)
    assert (report.verdict, report.names) == ("UNKNOWN", ()), str(report)
    assert "wrong gradients: key; right: query" in str(report)


def test_a_gradient_of_another_shape_is_a_mistake_with_both_shapes():
    report = verify(as_attention({}), grads=changed(KEY_TABLE, lambda grad, x: grad[..., :-1, :]))
    assert (report.verdict, report.names) == ("MISTAKE", ("gradients_wrong_shape",)), str(report)
    assert "grad_relative_key_table has shape (4, 6), expected (5, 6)" in str(report)
    assert "output right; grad_relative_key_table has the wrong shape" in str(report)


def test_a_halved_gradient_of_the_layer_is_named_too():
    def layer(*arrays, mask=None, num_heads):
        return multihead_forward(*arrays, num_heads=num_heads, mask=mask)[0]

    def grads(grad_output, *arrays, mask=None, num_heads):
        cache = multihead_forward(*arrays, num_heads=num_heads, mask=mask)[1]
        found = multihead_backward(grad_output, cache)
        return found._replace(x=found.x / 2)

    report = verify(layer, grads=grads, layer=True)
    assert report.names == ("gradients_scaled",), str(report)
    assert ("the gradient of x is the right one times 0.5 or divided by the batch size or divided "
            "by sqrt(head_dim)") in flat(report)  # both are 2 in all cases of the layer
