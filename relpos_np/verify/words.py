"""What there is to say about findings that are no change of a formula."""

EXPLANATIONS = {
    "wrong_shape": "The output must be (batch, num_heads, query_len, value head_dim).",
    "wrong_dtype": "float32 in must give float32 out at every step: 1/np.sqrt(d) is a NumPy "
                   "float64 and widens what it multiplies, 1/math.sqrt(d) does not.",
    "float32_inside": "The output is right to float32 precision only: some step, often the "
                      "softmax, is computed in float32 whatever comes in.",
    "inputs_changed": "An argument was written to (query *= scale): the caller's array is spoilt.",
    "not_deterministic": "Two calls with the same inputs differ: dropout left on in evaluation, "
                         "a buffer not cleared, or memory read before it was written.",
    "strided_inputs": "A transposed view is read as if it were contiguous: call "
                      "np.ascontiguousarray on each argument first.",
    "raises": "An exception. k = 0, one position, and unequal lengths are where ports crash.",
    "gradients_raises": "The gradient function raised an exception; the output was there.",
    "gradients_wrong_dtype": "A gradient has another dtype than the inputs, as for wrong_dtype.",
    "gradients_inputs_changed": "The gradient function wrote to an argument (grad_output *= 2).",
    "gradients_not_deterministic": "Two calls of the gradient function differ, often by the "
                                   "factor 2: a buffer is added to and never cleared.",
    "gradients_hangs": "The gradient function gave no answer within the time limit.",
    "gradients_no_array": "The gradient function returned something that is no array of numbers.",
    "gradients_wrong_shape": "Each gradient has the shape of its input; what was broadcast in the "
                             "forward pass is summed.",
    "gradients_scaled": "Gradients that are the right ones times a number (2, -1, 0, 1/num_heads), "
                        "or with a table's rows backwards.",
    "hangs": "No answer within the time limit.",
    "no_array": "Something came back that is no array of numbers.",
    "unclipped_rows": "A row for every distance is needed, and beyond the table it raises.",
    "unclipped_reversed_rows": "The same with the rows reversed (transformers BERT).",
    "softmax_epsilon": "exp / (sum exp + epsilon): the weights of a query add up to less than 1.",
    "solved_scale": "Right but for factors that the probe has read and that explain every case.",
    "solved_rows": "A table's rows in an order that the probe has read and that explains every "
                   "case.",
    "hidden_rows_nan": "A row that may attend to nothing gives NaN: 0/0 after an additive -inf.",
    "hidden_rows_uniform": "A row that may attend to nothing averages over all keys: a finite "
                           "mask fill such as -1e9.",
    "hidden_rows_unmasked": "A row that may attend to nothing attends as if unmasked: a finite "
                            "number was added to the scores.",
}
