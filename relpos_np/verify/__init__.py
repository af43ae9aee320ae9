"""Is someone else's attention Shaw's, and if not, what is wrong with it, in words?

``verify(candidate)`` puts the reference cases to it, ``probe(candidate)`` reads it from outside,
``explain(name)`` tells about a known mistake, ``identify(inputs, output)`` names the mistakes
that reproduce a recorded output on any inputs.
"""

from relpos_np.verify.explaining import explain
from relpos_np.verify.identifying import identify
from relpos_np.verify.probing import probe
from relpos_np.verify.pytest_cases import case_tests
from relpos_np.verify.verifying import verify, verify_results

__all__ = ["case_tests", "explain", "identify", "probe", "verify", "verify_results"]
