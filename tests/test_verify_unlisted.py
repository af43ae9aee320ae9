"""Mistakes that nobody has listed: rejected, never given a wrong name, and shown where they are."""

import numpy as np
import pytest
from verify_candidates import as_attention, flat

from relpos_np.softmax import mask_scores
from relpos_np.verify import formula, match, probe, verify


def doubled_distance(x):
    return np.clip(2 * (x.j - x.i), -x.k, x.k) + x.k


def rows_exchanged_in_pairs(x):
    rows = np.arange(x.num_rows) ^ 1
    return np.minimum(rows, x.num_rows - 1)[formula.index(x)]


def value_rows_one_later(x):
    return x.value_rows[:, np.clip(x.j - x.i + 1, -x.k, x.k) + x.k]


def query_mean_over_heads(x):
    mean = np.broadcast_to(x.query.mean(axis=1, keepdims=True), x.query.shape)
    return np.einsum("bhid,hijd->bhij", mean, x.relative_key)


def fourth_root(x):
    return (x.content_logits + x.relative_logits) / x.head_dim**0.25


def lost_in_dropout(x):
    return formula.weights(x) * x.query.dtype.type(0.9)


def weights_of_at_least_a_hundredth(x):
    return np.maximum(formula.weights(x), x.query.dtype.type(0.01))


def mask_of_one_head_only(x):
    masked = mask_scores(x.scaled_logits, x.mask)
    masked[:, 1:] = x.scaled_logits[:, 1:]
    return masked


def values_one_position_late(x):
    return np.einsum("bhij,bhjd->bhid", x.weights, np.roll(x.value, 1, axis=2))


def last_query_alone(x):
    return np.where(x.i == x.key_len - 1, formula.output(x), 2 * formula.output(x))


# name: the changed step, and what the report must point at.
UNLISTED = {
    "doubled distance": ({"index": doubled_distance}, "key table rows"),
    "rows exchanged in pairs": ({"index": rows_exchanged_in_pairs}, "key table rows"),
    "value rows one later": ({"relative_value": value_rows_one_later}, "value table rows"),
    "query mean over heads": ({"relative_logits": query_mean_over_heads}, "relative_logits"),
    "fourth root of head_dim": ({"scaled_logits": fourth_root}, "scale of q.k"),
    "a tenth of all weights lost": ({"weights": lost_in_dropout}, "sum of a query's weights"),
    "weights at least 0.01": ({"weights": weights_of_at_least_a_hundredth}, "largest weight of a"),
    "mask of one head only": ({"scores": mask_of_one_head_only}, "is scores"),
    "values one position late": ({"content_output": values_one_position_late}, "content_output"),
    "twice, but for the last query": ({"output": last_query_alone}, "output ["),
}


IN_FLOAT32_TOO = ("doubled distance", "fourth root of head_dim")


@pytest.mark.parametrize(("name", "dtype"), [
    *((name, "float64") for name in UNLISTED), *((name, "float32") for name in IN_FLOAT32_TOO)])
def test_an_unlisted_mistake_is_rejected_not_misnamed_and_shown(name, dtype):
    changes, place = UNLISTED[name]
    report = verify(as_attention(changes, stages=formula.RIGHT.keys() - {"i"}), dtype=dtype)
    assert report.verdict == "UNKNOWN", str(report)
    assert report.exit_code == 3
    assert report.names == (), str(report)
    assert place in str(report), str(report)


@pytest.mark.parametrize("name", ["doubled distance", "value rows one later"])
def test_the_probe_reads_an_unlisted_index_as_a_matrix(name):
    changes, _ = UNLISTED[name]
    read = probe(as_attention(changes))
    distance = np.arange(7) - np.arange(7)[:, np.newaxis]
    right = np.clip(distance, -2, 2) + 2
    if name == "doubled distance":
        wrong = np.clip(2 * distance, -2, 2) + 2
        np.testing.assert_array_equal(read.key_index, wrong)
        np.testing.assert_array_equal(read.value_index, wrong)
    else:
        np.testing.assert_array_equal(read.key_index, right)
        np.testing.assert_array_equal(read.value_index, np.clip(distance + 1, -2, 2) + 2)
    np.testing.assert_array_equal(read.right_index, right)


def test_two_known_mistakes_together_are_both_named():
    from relpos_np.verify.mistakes import find

    together = {**find("sign_flip").change, **find("mask_ignored").change}
    report = verify(as_attention(together))
    assert report.names == ("sign_flip + mask_ignored",), str(report)
    assert report.exit_code == 1


def test_pairs_are_tried_on_small_cases_before_the_long_one(monkeypatch):
    tried = []
    outcome = match.outcome

    def counted(changes, case, *options):
        tried.append(case.id)
        return outcome(changes, case, *options)

    monkeypatch.setattr(match, "outcome", counted)
    report = verify(as_attention({"output": lambda x: (
        formula.output(x) * (1.01 if x.query_len > 100 else 1))}))
    assert (report.verdict, report.names) == ("UNKNOWN", ()), str(report)
    assert "the mistake needs something that only the cases that differ have" in flat(report)
    assert len(tried) > 2000
    assert tried.count("long") < 100, "thousands of runs of 150 positions take a minute"
