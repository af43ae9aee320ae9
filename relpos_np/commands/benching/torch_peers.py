"""The forms in which PyTorch code computes relative attention, written from their formulas.

Each with the paper's clip and table, so that all compute the same numbers; the names say
where a form is found. torch is imported only when a peer is prepared.
"""

import math
from functools import partial


def peers():
    """The peers as contestants."""
    from relpos_np.commands.benching.contestants import Contestant

    forms = (
        ("torch SDPA, no tables", "none", "scaled_dot_product_attention alone", plain),
        ("torch SDPA + bias", "K", "the bias of a gather, given as a mask", bias_as_mask),
        ("torch gather", "K and V", "products by index, weights by scatter_add", gather),
        ("torch einsum (HF)", "K", "a vector per pair, as Hugging Face relative_key", per_pair),
        ("torch skew (VITS)", "K and V", "2L-1 distances, pad and reshape", pad_and_reshape),
        ("torch matmul (tensor2tensor)", "K and V", "one product per query position", per_query),
    )
    return tuple(
        Contestant(name, terms, about, partial(prepare, form)) for name, terms, about, form in forms
    )


def prepare(form, inputs):
    """The two calls of ``form(query, key, value, key_table, value_table, index, hidden)``."""
    import torch

    arrays = [torch.from_numpy(array) for array in inputs[:5]]
    grad_output = torch.from_numpy(inputs.grad_output)
    length, k = inputs.query.shape[2], len(inputs.relative_key_table) // 2
    position = torch.arange(length)
    index = torch.clamp(position[None, :] - position[:, None], -k, k) + k
    hidden = None if inputs.mask is None else torch.from_numpy(~inputs.mask)

    def run_forward():
        with torch.no_grad():
            return form(*arrays, index, hidden).numpy()

    def run_both():
        leaves = [array.detach().requires_grad_() for array in arrays]
        output = form(*leaves, index, hidden)
        output.backward(grad_output)
        return output.detach().numpy(), [leaf.grad for leaf in leaves]

    return run_forward, run_both


def weights_of(logits, hidden):
    """Softmax over the keys that are not hidden."""
    logits = logits if hidden is None else logits.masked_fill(hidden, -math.inf)
    return logits.softmax(-1)


def plain(query, key, value, key_table, value_table, index, hidden):
    """No relative term: the floor for a peer."""
    from torch.nn.functional import scaled_dot_product_attention

    visible = None if hidden is None else ~hidden
    return scaled_dot_product_attention(query, key, value, attn_mask=visible)


def bias_as_mask(query, key, value, key_table, value_table, index, hidden):
    """``q . w_r / sqrt(d)`` gathered to (i, j) and added by the fused kernel."""
    from torch.nn.functional import scaled_dot_product_attention

    bias = gathered(query @ key_table.T, index) / math.sqrt(query.shape[-1])
    bias = bias if hidden is None else bias.masked_fill(hidden, -math.inf)
    return scaled_dot_product_attention(query, key, value, attn_mask=bias)


def gathered(by_row, index):
    """(b, h, i, r) to (b, h, i, j)."""
    return by_row.gather(3, index.expand(*by_row.shape[:2], *index.shape))


def gather(query, key, value, key_table, value_table, index, hidden):
    """Products with the rows, gathered; weights per row, scattered."""
    logits = query @ key.transpose(-1, -2) + gathered(query @ key_table.T, index)
    weights = weights_of(logits / math.sqrt(query.shape[-1]), hidden)
    rows = weights.new_zeros(*weights.shape[:3], len(value_table))
    by_row = rows.scatter_add(3, index.expand_as(weights), weights)
    return weights @ value + by_row @ value_table


def per_pair(query, key, value, key_table, value_table, index, hidden):
    """The embedding of every pair, and an einsum over it; keys only."""
    import torch

    relative_logits = torch.einsum("bhid,ijd->bhij", query, key_table[index])
    logits = query @ key.transpose(-1, -2) + relative_logits
    return weights_of(logits / math.sqrt(query.shape[-1]), hidden) @ value


def per_query(query, key, value, key_table, value_table, index, hidden):
    """Batch and heads folded into the rows of one product per query position."""
    relative_logits = product_per_query(query, key_table[index].transpose(1, 2))
    logits = query @ key.transpose(-1, -2) + relative_logits
    weights = weights_of(logits / math.sqrt(query.shape[-1]), hidden)
    return weights @ value + product_per_query(weights, value_table[index])


def product_per_query(left, right):
    """(b, h, i, n) with (i, n, m) to (b, h, i, m)."""
    batch, heads, length, inner = left.shape
    folded = left.permute(2, 0, 1, 3).reshape(length, batch * heads, inner)
    return (folded @ right).reshape(length, batch, heads, -1).permute(1, 2, 0, 3)


def pad_and_reshape(query, key, value, key_table, value_table, index, hidden):
    """All 2L-1 distances by one product, moved to the keys by padding and reshaping."""
    from torch.nn.functional import pad

    batch, heads, length, head_dim = query.shape
    # Row c of the wide tables is for distance c - (length - 1).
    wide = [table[index_of_distance(length, table)] for table in (key_table, value_table)]
    by_distance = query @ wide[0].T
    lines = pad(by_distance, (0, 1)).reshape(batch, heads, -1)
    lines = pad(lines, (0, length - 1)).reshape(batch, heads, length + 1, 2 * length - 1)
    logits = query @ key.transpose(-1, -2) + lines[:, :, :length, length - 1 :]
    weights = weights_of(logits / math.sqrt(head_dim), hidden)
    lines = pad(weights, (0, length - 1)).reshape(batch, heads, -1)
    lines = pad(lines, (length, 0)).reshape(batch, heads, length, 2 * length)
    return weights @ value + lines[:, :, :, 1:] @ wide[1]


def index_of_distance(length, table):
    """Table row of the distances -(length-1) .. length-1."""
    import torch

    k = len(table) // 2
    return torch.clamp(torch.arange(1 - length, length), -k, k) + k
