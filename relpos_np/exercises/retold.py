"""Mistakes of the catalogue in the words of a class: pairs of a name and why it is wrong."""

NO_SIDES = ("abs_distance", "Left and right are not told apart: keep the sign.")
ONE_ROW = (
    ("prefill_one_row", "Every query gets the distances of the last query."),
    ("chunk_one_row", "Every query gets the distances of the last query. Only with equal lengths "
                      "is it right."),
)
SCORES = (
    ("rel_key_missing", "The relative half is missing."),
    ("alpha_without_rel", "The relative half is missing."),
    ("scale_d", "The square root is missing, or it was divided twice by sqrt(head_dim)."),
    ("mask_ignored", "The mask is not applied."),
)
# The catalogue tells it by the whole attention; to a class it is the scores.
CONTENT_ONLY = (("softmax(q_i . k_j / sqrt(head_dim)), and the value term added",
                 "q_i . k_j / sqrt(head_dim)"), ("e_ij = ", ""))
