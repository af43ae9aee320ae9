"""The matrices of the paper, each with its own symbol and colours."""

import numpy as np

from relpos_np.plots.heatmaps import matrix_figure


def position_figure(relative_position):
    """Heatmap of ``j - i``, clipped or not: (query_len, key_len) int to Figure."""
    return matrix_figure(relative_position, symbol="j - i", signed=True)


def index_figure(index):
    """Heatmap of table rows ``clip(j - i, -k, k) + k``: (query_len, key_len) int to Figure."""
    return matrix_figure(index, symbol="table row", signed=False)


def bias_figure(relative_logits, tokens=None, head_dim=None):
    """The attention bias per head: what positions add to the scores.

    Parameters
    ----------
    relative_logits : ndarray, (num_heads, query_len, key_len)
        ``q_i . a^K_ij``.
    tokens : sequence of str, optional
    head_dim : int, optional
        If given, divides by sqrt(head_dim): the bias as the softmax sees it.
    """
    symbol = r"$q_i \cdot a^K_{ij}$"
    if head_dim is not None:
        relative_logits = relative_logits / np.sqrt(head_dim)
        symbol = r"$q_i \cdot a^K_{ij} / \sqrt{d}$"
    return matrix_figure(
        list(relative_logits), symbol=symbol, signed=True, query_tokens=tokens,
        titles=head_titles(relative_logits),
    )


def weights_figure(weights, tokens=None, limit=None):
    """Attention weights per head: (num_heads, query_len, key_len) to Figure."""
    return matrix_figure(
        list(weights), symbol=r"$\alpha_{ij}$", signed=False, query_tokens=tokens, limit=limit,
        titles=head_titles(weights),
    )


def table_figure(
    tables, *, symbol=r"$w^K_r$", titles=None, limit=None, panel=3.4, columns=None
):
    """Position tables side by side: one (2k+1, head_dim) or a list, rows -k .. k, to Figure."""
    tables = list(tables) if np.ndim(tables) != 2 else [tables]
    figure = matrix_figure(
        tables, symbol=symbol, titles=titles, signed=True, limit=limit, numbers=False,
        panel=panel, columns=columns,
    )
    for axes, table in zip(figure.axes, tables, strict=False):
        k = len(table) // 2
        axes.set_aspect("auto")  # nine rows of a hundred components would be a thin line
        axes.set(xlabel="component d", ylabel="relative position r")
        axes.yaxis.set_major_formatter(lambda row, _, k=k: f"{round(row) - k:d}")
    return figure


def head_titles(per_head):
    """``head 0``, ``head 1``, ..."""
    return [f"head {head}" for head in range(len(per_head))]
