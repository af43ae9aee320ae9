"""Tokens to vectors, one table row per token, and the gradient of the table."""

from typing import NamedTuple

import numpy as np


class EmbeddingCache(NamedTuple):
    """What the backward needs: which rows were read, of how many."""

    tokens: np.ndarray  # (b, length) int
    num_rows: int


def embedding_forward(tokens, table):
    """The table row of every token.

    Parameters
    ----------
    tokens : ndarray of int, (batch, length)
    table : ndarray, (vocabulary, model_dim)

    Returns
    -------
    x : ndarray, (batch, length, model_dim)
    cache : EmbeddingCache

    Raises
    ------
    IndexError
        If a token is not a row of the table; negative ones too, which NumPy would wrap.

    Examples
    --------
    >>> embedding_forward(np.array([[1, 0, 1]]), np.array([[10.0], [20.0]]))[0]
    array([[[20.],
            [10.],
            [20.]]])
    """
    num_rows = len(table)
    if tokens.size and (tokens.min() < 0 or tokens.max() >= num_rows):
        raise IndexError(
            f"tokens {tokens.min()} .. {tokens.max()} were looked up in an embedding of "
            f"{num_rows} rows, 0 .. {num_rows - 1}"
        )
    return table[tokens], EmbeddingCache(tokens=tokens, num_rows=num_rows)


def embedding_backward(grad_x, cache):
    """Gradient of the table: a token that occurs n times sends its row n gradients.

    Parameters
    ----------
    grad_x : ndarray, (batch, length, model_dim)
    cache : EmbeddingCache

    Returns
    -------
    ndarray, (vocabulary, model_dim)

    Notes
    -----
    Looking up is multiplying by one-hot rows, ``x = one_hot @ table``, so going back is
    multiplying by their transpose. The product does the summing.

    Examples
    --------
    >>> _, cache = embedding_forward(np.array([[1, 0, 1]]), np.array([[10.0], [20.0]]))
    >>> embedding_backward(np.array([[[1.0], [2.0], [4.0]]]), cache)
    array([[2.],
           [5.]])
    """
    one_hot = cache.tokens.reshape(-1, 1) == np.arange(cache.num_rows)
    return one_hot.T.astype(grad_x.dtype) @ grad_x.reshape(-1, grad_x.shape[-1])
