"""Notebook 6, second half: five functions with a mistake each, to be shown by an input."""

from relpos_np.exercises.hunt import Hunt

HUNTS = (
    Hunt(
        "6.4", "a bug behind the mask", "show_mask_bug",
        ("mask_times_zero", "mask_after_softmax", "mask_one_too_many", "mask_one_too_few"),
        ("no_mask",),
        (
            "Without a mask the suspect is right. True means: may attend.",
            "mask must broadcast to (batch, num_heads, query_len, key_len).",
            "Random inputs and a causal mask: np.tri(length, dtype=bool).",
        ),
    ),
    Hunt(
        "6.5", "a bug far away", "show_far_bug",
        ("no_clip", "upper_clip_only", "lower_clip_only", "clip_k_minus_1"),
        ("nothing_clipped",),
        (
            "On short texts the suspect is right. What happens only at a distance?",
            "Pairs with |j - i| > k must occur, to the left and to the right.",
            "A table of 2k+1 = 5 rows and a length of 7 or more.",
        ),
    ),
    Hunt(
        "6.6", "a bug with a cache", "show_cache_bug",
        ("no_query_offset", "prefill_last_position", "chunk_one_row"),
        ("from_zero", "one_query"),
        (
            "On whole texts, or on the usual single new token, the suspect may be right.",
            "New queries after cached keys: query_len < key_len and query_start > 0.",
            "3 queries, 7 keys, query_start 4.",
        ),
    ),
    Hunt(
        "6.7", "a bug of large numbers", "show_large_bug", ("no_max_subtraction", "global_max"),
        ("small_scores", "rows_alike"),
        (
            "The formula is right on paper. What does exp do with large numbers?",
            "exp(710) is infinite, exp(-750) is 0; a softmax needs the maximum of its own row.",
            "Random inputs; multiply the queries of one text by 1000 and those of another by "
            "0.001.",
        ),
    ),
    Hunt(
        "6.8", "a bug on the way back", "show_backward_bug",
        ("first_batch_only", "table_grad_last_head", "table_grad_head_mean", "scatter_last_wins",
         "softmax_correction_wrong_axis", "clipped_pairs_dropped"),
        ("constant_upstream", "one_text", "one_head", "nothing_clipped"),
        (
            "The output is right; a gradient is not. Which sums does a backward pass take?",
            "Sums over texts, heads, queries and pairs of one row: have at least two of each, and "
            "a grad_output that lets nothing cancel.",
            "batch 2, 3 heads, length 7, k = 2, everything random, grad_output too.",
        ),
        backward=True,
    ),
)
