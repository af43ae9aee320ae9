"""What an input cannot show, in words: the blind spots of the usual test inputs."""

from types import SimpleNamespace

import numpy as np

from relpos_np.attention import attention_forward

# Everything that can be wrong with every hunt's inputs; a hunt adds its own (see SPOTS).
GENERAL = ("zero_tables", "equal_rows", "symmetric_tables", "one_key", "equal_weights", "constant")

SPOTS = {
    "zero_tables": (
        lambda x: all((table == 0).all() for table in x.tables),
        "The tables are zero: no relative term is left that could be wrong."),
    "equal_rows": (
        lambda x: all(np.ptp(table, axis=-2).max() == 0 for table in x.tables),
        "All rows of a table are equal: whichever row is read, the numbers are the same."),
    "symmetric_tables": (
        lambda x: all(np.array_equal(table, table[..., ::-1, :]) for table in x.tables),
        "The tables are symmetric: left and right give the same vector."),
    "one_key": (
        lambda x: x.key_len == 1, "With one key its weight is 1, whatever the scores."),
    "equal_weights": (
        lambda x: np.ptp(x.scaled_logits) == 0,
        "All scores are equal, so all weights are, right or wrong."),
    "constant": (
        lambda x: all(np.ptp(array) == 0 for array in (x.query, x.key, x.value)),
        "Constant arrays look the same from every side: draw random numbers."),
    "constant_upstream": (
        lambda x: np.ptp(x.grad_output) == 0,
        "A constant grad_output lets errors cancel in sums: draw random numbers."),
    "no_mask": (
        lambda x: x.mask is None or x.mask.all(),
        "Nothing is hidden: what a mask does cannot be seen."),
    "nothing_clipped": (
        lambda x: abs(x.relative_position).max() <= x.index.max() // 2,
        "No distance is beyond k: the clip has nothing to do."),
    "from_zero": (
        lambda x: x.relative_position[0, 0] == 0,
        "The first query stands at 0: that the others are counted from there cannot be seen."),
    "one_query": (
        lambda x: x.query_len == 1,
        "One query: what differs from query to query cannot be seen."),
    "small_scores": (
        lambda x: abs(x.scaled_logits).max() < 700,
        "No score is beyond 700: the exponential never meets its limits (exp(710) overflows)."),
    "rows_alike": (
        lambda x: np.ptp(x.scaled_logits.max(axis=-1)) < 700,
        "The largest scores of all rows are of one size: one maximum serves them all."),
    "one_text": (
        lambda x: x.batch == 1, "One text: what goes wrong between texts cannot be seen."),
    "one_head": (
        lambda x: x.heads == 1, "One head: what goes wrong between heads cannot be seen."),
}


def spot(names, grad_output, arrays, options):
    """The first of the blind spots `names` that the inputs have, as a sentence.

    Parameters
    ----------
    names : tuple of str
        Keys of `SPOTS`.
    grad_output : ndarray or None
    arrays : sequence of ndarray
        The five inputs.
    options : dict
        mask and query_start.
    """
    cache = attention_forward(*arrays, **options)[1]
    batch, heads, query_len, key_len = cache.scores.shape
    x = SimpleNamespace(
        **cache._asdict(), tables=arrays[3:], grad_output=grad_output, batch=batch, heads=heads,
        query_len=query_len, key_len=key_len)
    seen = (words for is_blind, words in map(SPOTS.get, names) if is_blind(x))
    return next(seen, "None of the usual blind spots; try inputs of another kind.")
