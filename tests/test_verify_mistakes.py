"""Every known mistake, run as a stranger's function, is rejected and named."""

import pytest
from verify_candidates import as_attention, as_backward, as_layer

from relpos_np.verify import verify
from relpos_np.verify.mistakes import BACKWARD, CATALOGUE, CORRECT, EVERYTHING, FORWARD, LAYER

# Mathematics makes these the same function: all of them are named.
SAME_FUNCTION = {
    "rel_key_missing": {"rel_key_missing", "alpha_without_rel"},
    "alpha_without_rel": {"rel_key_missing", "alpha_without_rel"},
}


def report_on(entry, dtype):
    if entry in BACKWARD:
        return verify(as_attention({}), grads=as_backward(entry.change), dtype=dtype)
    if entry in LAYER:
        return verify(as_layer(entry.change), layer=True, dtype=dtype)
    return verify(as_attention(entry.change), dtype=dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("entry", EVERYTHING, ids=lambda entry: entry.name)
def test_every_known_mistake_gets_its_own_name_and_no_other(entry, dtype):
    report = report_on(entry, dtype)
    names = set(report.names)
    if entry.verdict == CORRECT:
        assert (report.verdict, names) == ("PASS", set()), str(report)
    else:
        assert names == SAME_FUNCTION.get(entry.name, {entry.name}), str(report)
        assert report.exit_code in (1, 2), str(report)
        assert entry.wrote in str(report)


def test_the_catalogue_has_the_95_classical_mistakes_and_no_name_twice():
    assert len(CATALOGUE) == 95
    assert len({entry.name for entry in EVERYTHING}) == len(EVERYTHING)
    assert len(EVERYTHING) == len(FORWARD) + len(LAYER) + len(BACKWARD)
