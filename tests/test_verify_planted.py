"""Faults planted in the library's own code are named: other arithmetic than the catalogue's.

The catalogue computes each mistake with its own sums. A stranger adds in another order, so the
same mistake differs by roundings, also where the right number is 0 and nothing else is left.
"""

import pytest
from test_checks_can_fail import BACKWARD_FAULTS, FORWARD_FAULTS, plant

from relpos_np import attention_backward, attention_forward
from relpos_np.verify import verify

FORWARD_NAMES = {
    "sign of j - i": {"sign_flip"},
    "clip at k - 1": {"clip_k_minus_1"},
    "query_start forgotten": {"no_query_offset"},
    "value table dropped": {"rel_value_missing"},
    "key table dropped": {"rel_key_missing", "alpha_without_rel"},
    "scale on one term": {"scale_content_only"},
    "sqrt(head_dim) forgotten": {"no_scale"},
    "softmax over queries": {"softmax_query_axis"},
    "mask ignored": {"mask_ignored"},
    "mask inverted": {"mask_inverted"},
}
BACKWARD_NAMES = {
    "scatter by =": {"scatter_last_wins"},
    "scatter by +=": {"scatter_last_wins"},
    "softmax backward without its row sum": {"softmax_no_correction"},
    "a path missing from grad query": {"dq_rel_missing"},
    "a path missing from grad weights": {"dalpha_rel_missing"},
    "sqrt(head_dim) forgotten in the backward": {"scale_missing_backward"},
}


def output_of(forward):
    def candidate(*arrays, mask=None, query_start=None):
        return forward(*arrays, mask=mask, query_start=query_start)[0]

    return candidate


def gradients_of(backward):
    def candidate(grad_output, *arrays, mask=None, query_start=None):
        _, cache = attention_forward(*arrays, mask=mask, query_start=query_start)
        return backward(grad_output, cache)

    return candidate


@pytest.mark.parametrize("fault", FORWARD_NAMES)
def test_a_fault_planted_in_the_forward_is_named(fault):
    report = verify(output_of(plant(*FORWARD_FAULTS[fault])["attention_forward"]))
    assert FORWARD_NAMES[fault] <= set(report.names), str(report)


@pytest.mark.parametrize("fault", BACKWARD_NAMES)
def test_a_fault_planted_in_the_backward_is_named(fault):
    planted = plant(*BACKWARD_FAULTS[fault])
    backward = planted["attention_backward"]

    def with_its_own_forward(grad_output, *arrays, mask=None, query_start=None):
        _, cache = planted["attention_forward"](*arrays, mask=mask, query_start=query_start)
        return backward(grad_output, cache)

    report = verify(output_of(attention_forward), grads=with_its_own_forward)
    assert set(report.names) == BACKWARD_NAMES[fault], str(report)


def test_without_a_fault_they_pass():
    report = verify(output_of(attention_forward), grads=gradients_of(attention_backward))
    report.assert_ok()
