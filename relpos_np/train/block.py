"""One layer of the model: attention, then perhaps a feed-forward layer, each added to its input."""

from typing import NamedTuple

from relpos_np.multihead import MultiheadCache, multihead_backward, multihead_forward
from relpos_np.train.feed_forward import (
    FeedForwardCache,
    feed_forward_backward,
    feed_forward_forward,
)
from relpos_np.train.layer_norm import LayerNormCache, layer_norm_backward, layer_norm_forward

ATTENTION = (
    "query_weight", "key_weight", "value_weight", "output_weight",
    "relative_key_table", "relative_value_table",
)
FEED_FORWARD = ("inner_weight", "inner_bias", "outer_weight", "outer_bias")


class BlockCache(NamedTuple):
    """The caches of the parts in order; None for a part that the block does not have."""

    attention_norm: LayerNormCache | None
    attention: MultiheadCache
    feed_forward_norm: LayerNormCache | None
    feed_forward: FeedForwardCache | None


def block_forward(x, parameters, *, num_heads, mask=None, attention):
    """``x + attention(norm(x))``, then ``x + feed_forward(norm(x))``.

    Parameters
    ----------
    x : ndarray, (batch, length, model_dim)
    parameters : dict of str to ndarray
        Named as in `ATTENTION` and `FEED_FORWARD`, and ``attention_norm.scale``, ``.shift``,
        ``feed_forward_norm.scale``, ``.shift``. Names that are missing leave their part out.
    num_heads, mask, attention
        As in `multihead_forward`.

    Returns
    -------
    x : ndarray, (batch, length, model_dim)
    cache : BlockCache
    """
    normed, attention_norm = norm_forward(x, parameters, "attention_norm")
    attended, attention_cache = multihead_forward(
        normed, **pick(parameters, ATTENTION), num_heads=num_heads, mask=mask, attention=attention
    )
    x = x + attended
    feed_forward_norm = feed_forward = None
    if "inner_weight" in parameters:
        normed, feed_forward_norm = norm_forward(x, parameters, "feed_forward_norm")
        fed, feed_forward = feed_forward_forward(normed, **pick(parameters, FEED_FORWARD))
        x = x + fed
    return x, BlockCache(
        attention_norm=attention_norm, attention=attention_cache,
        feed_forward_norm=feed_forward_norm, feed_forward=feed_forward,
    )


def block_backward(grad_x, cache, *, attention):
    """Gradients of `block_forward`.

    Returns
    -------
    grad_x : ndarray, (batch, length, model_dim)
    grads : dict of str to ndarray
        By the names of the parameters that the block has.
    """
    grads = {}
    if cache.feed_forward is not None:
        # x = x + feed_forward(norm(x))
        from_part = feed_forward_backward(grad_x, cache.feed_forward)
        grads |= pick(from_part._asdict(), FEED_FORWARD)
        grad_normed = from_part.x
        grad_x = grad_x + norm_backward(
            grad_normed, cache.feed_forward_norm, "feed_forward_norm", grads
        )
    # x = x + attention(norm(x))
    from_part = multihead_backward(grad_x, cache.attention, attention=attention)
    grads |= pick(from_part._asdict(), ATTENTION)
    grad_x = grad_x + norm_backward(from_part.x, cache.attention_norm, "attention_norm", grads)
    return grad_x, grads


def norm_forward(x, parameters, name):
    """The layer norm called `name`, or x itself and no cache if there is none."""
    if f"{name}.scale" not in parameters:
        return x, None
    return layer_norm_forward(x, parameters[f"{name}.scale"], parameters[f"{name}.shift"])


def norm_backward(grad_output, cache, name, grads):
    """Gradient of what went into `norm_forward`; those of its parameters are put into `grads`."""
    if cache is None:
        return grad_output
    from_norm = layer_norm_backward(grad_output, cache)
    grads |= {f"{name}.scale": from_norm.scale, f"{name}.shift": from_norm.shift}
    return from_norm.x


def pick(values, names):
    """The entries of a dict with these names, those that are there and not None."""
    return {name: values[name] for name in names if values.get(name) is not None}
