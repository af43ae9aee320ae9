"""Which cases there are and what each of them is for. Ids never change.

Sizes differ from each other wherever the formula allows it, so that no axis can stand in for
another. The four that separate most mistakes are causal, cross, big_logits and long.
"""

from typing import NamedTuple


class Spec(NamedTuple):
    """What the generator needs to know of a case, and a sentence about it."""

    id: str
    about: str
    tags: tuple = ()
    batch: int = 2
    num_heads: int = 3
    query_len: int = 7
    key_len: int = 7
    head_dim: int = 6
    value_dim: int = 6
    k: int = 2
    mask: str = ""  # "", "causal", "padding", "hidden rows"
    query_start: int = 0
    logit_bits: int = 0  # query, key and key table times 2 ** logit_bits
    tables: str = "both"  # "both", "key", "value"
    per_head: bool = False
    model_dim: int = 0  # > 0: a layer with projections
    optional: bool = False  # a port may refuse it: then it is left out, not wrong


SPECS = (
    Spec("unmasked", "plain self-attention, logits up to about 8"),
    Spec("causal", "no key to the right of the query", ("mask",), mask="causal"),
    Spec("padding", "the last keys hidden, another number in each batch entry", ("mask",),
         mask="padding"),
    Spec("cross", "3 new queries at the end of 7 keys", ("cross",), query_len=3, query_start=4),
    Spec("one_query", "one new query at the end of 7 keys, as in decoding with a cache",
         ("cross",), query_len=1, query_start=6),
    Spec("cross_offset", "3 queries that stand at keys 1, 2, 3 (needs query_start)",
         ("cross", "query_start"), query_len=3, query_start=1),
    Spec("big_logits", "logits up to 6,000 in one batch entry, small ones in the other", ("big",),
         logit_bits=5),
    Spec("big_logits_causal", "logits up to 24,000 under a causal mask", ("big", "mask"),
         logit_bits=6, mask="causal"),
    Spec("long", "150 positions: distances beyond 127", ("long",), batch=1, num_heads=2,
         query_len=150, key_len=150, k=4),
    Spec("short", "3 positions, k = 5: nothing is ever clipped", num_heads=4, query_len=3,
         key_len=3, head_dim=8, value_dim=8, k=5),
    Spec("value_dim", "value head_dim 5, head_dim 6", ("value_dim",), value_dim=5, optional=True),
    Spec("k_zero", "k = 0: one row for every pair", ("k_zero",), k=0),
    Spec("length_one", "one position: the weight is 1", ("length_one",), query_len=1, key_len=1),
    Spec("fully_masked", "causal, and two queries that may attend to nothing", ("mask",),
         mask="hidden rows"),
    Spec("per_head", "each head has tables of its own", ("per_head",), per_head=True,
         optional=True),
    Spec("key_table_only", "no value table", ("one_table",), tables="key"),
    Spec("value_table_only", "no key table", ("one_table",), tables="value"),
    Spec("layer_square", "the layer, all matrices square", ("layer",), query_len=5, key_len=5,
         head_dim=4, value_dim=4, model_dim=12, mask="causal"),
    Spec("layer_rectangular", "the layer, model_dim 9 and 12 columns", ("layer",), query_len=5,
         key_len=5, head_dim=4, value_dim=4, model_dim=9),
)
