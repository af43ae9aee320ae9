"""Right but for a little: an epsilon, a factor near 1, float32 inside are told from each other."""

import numpy as np
import pytest
from verify_candidates import as_attention, as_layer

from relpos_np.verify import formula, verify
from relpos_np.verify.mistakes import find


def with_epsilon(epsilon):
    def weights(x):
        lowest = np.finfo(x.scores.dtype).min
        exponentials = np.exp(x.scores - np.maximum(x.scores.max(axis=-1, keepdims=True), lowest))
        sums = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / (sums + x.query.dtype.type(epsilon))

    return {"weights": weights}


@pytest.mark.parametrize(("epsilon", "dtype"), [
    (1e-2, "float64"), (1e-5, "float64"), (1e-6, "float64"), (1e-7, "float64"),
    (1e-9, "float64"), (1e-12, "float64"), (1e-3, "float32"), (1e-5, "float32"),
])
def test_an_epsilon_beside_the_sum_is_named_with_its_size(epsilon, dtype):
    report = verify(as_attention(with_epsilon(epsilon)), dtype=dtype)
    assert (report.verdict, report.names) == ("MISTAKE", ("softmax_epsilon",)), str(report)
    assert f"+ {epsilon:.2g})" in str(report)


def test_an_epsilon_in_the_layer_is_named_too():
    report = verify(as_layer(with_epsilon(1e-6)), layer=True)
    assert report.names == ("softmax_epsilon",), str(report)


@pytest.mark.parametrize("excess", [1e-5, 1e-6, 1e-8])
def test_a_factor_near_1_is_unknown_and_neither_float32_nor_an_epsilon(excess):
    report = verify(as_attention({"weights": lambda x: formula.weights(x) / (1 + excess)}))
    assert (report.verdict, report.names) == ("UNKNOWN", ()), str(report)
    assert "off by" in str(report)


@pytest.mark.parametrize("step", ["weights", "scaled_logits", "content_output", "output"])
def test_float32_anywhere_inside_is_named(step):
    def rounded(x):
        return getattr(formula, step)(x).astype(np.float32).astype(np.float64)

    report = verify(as_attention({step: rounded}))
    assert report.names == ("float32_inside",), str(report)


@pytest.mark.parametrize(("mistake", "name"), [({}, "float32_inside"),
                                               (find("sign_flip").change, "sign_flip")])
def test_float32_from_the_first_step_on_is_named_alone(mistake, name):
    def narrow(*arrays, mask=None, query_start=0):
        given = [None if a is None else a.astype(np.float32) for a in arrays]
        output = as_attention(mistake)(*given, mask=mask, query_start=query_start)
        return output.astype(np.float64)

    report = verify(narrow)
    assert report.names == (name,), str(report)
    assert "float32" in str(report)
