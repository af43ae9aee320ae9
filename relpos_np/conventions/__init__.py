"""Other people's tables, turned into the paper's table of 2k+1 rows for -k .. k.

A convention is three functions: ``from_X`` to the paper's table, ``to_X`` back (a ValueError
when their layout cannot say it), and ``grad_to_X``, which carries the gradient of the paper's
table to theirs. `CONVENTIONS` lists who uses which. Tables may be (rows, head_dim) or one such
per head. Where the layouts are the same, tensor2tensor's, OpenNMT-tf's or CTranslate2's, there
is nothing to do.
"""

from relpos_np.conventions.causal_window import (
    from_causal_window,
    grad_to_causal_window,
    to_causal_window,
)
from relpos_np.conventions.left_right import from_left_right, grad_to_left_right, to_left_right
from relpos_np.conventions.listing import CONVENTIONS, Convention, conventions_markdown
from relpos_np.conventions.one_table import from_one_table, grad_to_one_table, to_one_table
from relpos_np.conventions.reversed_rows import from_reversed, grad_to_reversed, to_reversed
from relpos_np.conventions.zero_window import (
    from_zero_window,
    grad_to_zero_window,
    to_zero_window,
)

__all__ = [
    "CONVENTIONS",
    "Convention",
    "conventions_markdown",
    "from_causal_window",
    "from_left_right",
    "from_one_table",
    "from_reversed",
    "from_zero_window",
    "grad_to_causal_window",
    "grad_to_left_right",
    "grad_to_one_table",
    "grad_to_reversed",
    "grad_to_zero_window",
    "to_causal_window",
    "to_left_right",
    "to_one_table",
    "to_reversed",
    "to_zero_window",
]
