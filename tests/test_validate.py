"""What does not fit is refused, by name, with the values and the mend."""

import numpy as np
import pytest
from inputs import random_inputs

from relpos_np import attention_forward, attention_forward_matmul

FORMS = [attention_forward, attention_forward_matmul]
VALUE_ERRORS = {
    "an even number of rows": (
        {"relative_key_table": np.ones((4, 6))}, r"relative_key_table has 4 rows.*odd number, 2k\+1"
    ),
    "tables of different k": (
        {"relative_value_table": np.ones((7, 5))}, r"5 rows \(k = 2\).*7 \(k = 3\).*same k"
    ),
    "head_dim of the key": ({"key": np.ones((2, 3, 7, 4))}, "key has head_dim 4, query has 6"),
    "head_dim of the key table": (
        {"relative_key_table": np.ones((5, 5))}, "has head_dim 5, query has 6"
    ),
    "head_dim of the value table": (
        {"relative_value_table": np.ones((5, 6))}, "has head_dim 6, value has 5"
    ),
    "heads of a table": (
        {"relative_key_table": np.ones((4, 5, 6))}, "tables for 4 heads, query has 3"
    ),
    "axes of a table": ({"relative_key_table": np.ones(6)}, r"shape \(6,\); it must be \(2k\+1"),
    "lengths without query_start": (
        {"key": np.ones((2, 3, 9, 6)), "value": np.ones((2, 3, 9, 5))},
        "query_len 7 and key_len 9 differ.*KV cache.*key_len - query_len = 2",
    ),
    "length of the values": ({"value": np.ones((2, 3, 8, 5))}, "value has length 8, key has 7"),
    "batch of the keys": (
        {"key": np.ones((1, 3, 7, 6))}, r"key has \(batch, num_heads\) \(1, 3\), query has \(2, 3\)"
    ),
    "axes of the query": ({"query": np.ones((3, 7, 6))}, r"query has shape \(3, 7, 6\).*newaxis"),
    "a mask that does not broadcast": (
        {"mask": np.ones((2, 6), bool)}, r"mask has shape \(2, 6\).*\(2, 3, 7, 7\).*newaxis"
    ),
    "a mask with more axes than the scores": (
        {"mask": np.ones((2, 1, 1, 1, 7), bool)}, r"mask has shape \(2, 1, 1, 1, 7\)"
    ),
    "no dimensions to multiply": (
        {"query": np.ones((2, 3, 7, 0)), "key": np.ones((2, 3, 7, 0))}, "head_dim is 0"
    ),
}
TYPE_ERRORS = {
    "integers": ({"query": np.ones((2, 3, 7, 6), int)}, r"query has dtype int64.*astype"),
    "a list": ({"key": [[1.0]]}, r"key is a list.*np\.asarray\(key, float\)"),
    "mixed precision": (
        {"value": np.ones((2, 3, 7, 5), np.float32)}, "precisions differ .*value float32"
    ),
    "an additive mask": ({"mask": np.zeros((7, 7))}, "mask must be a boolean array.*mask == 0"),
    "a mask that is no array": ({"mask": [[True]]}, "mask must be a boolean array.*list"),
    "a query_start that is no integer": ({"query_start": 1.5}, "query_start must be an integer"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("change", "message"), VALUE_ERRORS.values(), ids=VALUE_ERRORS.keys())
def test_what_does_not_fit_is_a_value_error_with_the_mend(form, change, message):
    inputs = random_inputs(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        form(**{**inputs, **change})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("change", "message"), TYPE_ERRORS.values(), ids=TYPE_ERRORS.keys())
def test_what_is_no_number_of_the_right_kind_is_a_type_error_with_the_mend(form, change, message):
    inputs = random_inputs(np.random.default_rng(0))
    with pytest.raises(TypeError, match=message):
        form(**{**inputs, **change})


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["query", "key", "value", "relative_key_table"])
def test_nan_goes_in_and_shows_in_every_output_that_reads_it(form, name):
    inputs = random_inputs(np.random.default_rng(1))
    inputs[name][..., 0, 0] = np.nan
    output, _ = form(**inputs)
    readers = output[:, :, 0] if name == "query" else output[:, :, 3:]
    assert np.isnan(readers).any(axis=-1).all()
    if name == "query":  # and in no other row
        assert np.isfinite(output[:, :, 1:]).all()
