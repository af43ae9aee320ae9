"""One pytest test per reference case, in one line of a test file."""

import functools

from relpos_np.verify.cases import load_cases
from relpos_np.verify.verifying import verify


def case_tests(candidate, **options):
    """A test function with one parameter per case, to be given a name that begins with test.

    Parameters
    ----------
    candidate, options
        As for `verify`.

    Returns
    -------
    callable

    Examples
    --------
    In a file that pytest collects::

        from relpos_np.verify import case_tests
        test_my_port = case_tests("my_port.py:attention", dtype="float32")
    """
    import pytest

    report = functools.cache(functools.partial(verify, candidate, **options))
    ids = [case.id for case in load_cases() if bool(case.num_heads) == options.get("layer", False)]

    @pytest.mark.parametrize("case_id", ids)
    def test_case(case_id):
        result = next(case for case in report().cases if case.id == case_id)
        if result.status == "left out":
            pytest.skip(result.note)
        if result.status != "pass":
            pytest.fail(str(report()), pytrace=False)

    return test_case
