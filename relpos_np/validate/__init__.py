"""What the public doors refuse, and the words in which they say how to mend it.

NaN and infinity are let through: they must show in the result, not stop the reader who is
looking for where they came from.
"""

from relpos_np.validate.arrays import boolean_mask, gradient_like, same_precision
from relpos_np.validate.attention import attention_inputs, mask_shape, projections, table_shape
from relpos_np.validate.numbers import (
    first_query_position,
    table_rows,
    whole_number,
    whole_numbers,
)

__all__ = [
    "attention_inputs",
    "boolean_mask",
    "first_query_position",
    "gradient_like",
    "mask_shape",
    "projections",
    "same_precision",
    "table_rows",
    "table_shape",
    "whole_number",
    "whole_numbers",
]
