"""NaN in an output and answers that change later are called what they are."""

import itertools

import numpy as np
import pytest
from verify_candidates import as_attention

from relpos_np.verify import formula, verify


def one_nan(x):
    output = formula.output(x).copy()
    output[0, 0, 0, 0] = np.nan
    return output


@pytest.mark.parametrize("output", [lambda x: formula.output(x) * np.nan, one_nan],
                         ids=["all NaN", "one NaN"])
def test_nan_is_unknown_and_no_matter_of_strides(output):
    report = verify(as_attention({"output": output}))
    assert (report.verdict, report.names) == ("UNKNOWN", ()), str(report)
    assert "output is nan where" in str(report)


def test_an_answer_that_changes_after_many_calls_is_not_deterministic():
    calls = itertools.count()

    def output(x):
        return formula.output(x) * (1 + 1e-3 * (next(calls) > 30))

    report = verify(as_attention({"output": output}))
    assert report.names == ("not_deterministic",), str(report)
