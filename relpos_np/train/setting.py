"""What distinguishes one run from another: a task, an encoding and a few numbers."""

from typing import NamedTuple

import numpy as np

from relpos_np.train.initial import MODEL_DIM, initial_parameters
from relpos_np.train.task import TASKS

ENCODINGS = ("none", "sinusoidal", "learned", "shaw", "t5", "alibi", "rope", "transformer_xl")
T5_BUCKETS = 32
TERMS = ("both", "key", "value", "neither")


class Setting(NamedTuple):
    """One model on one task. What is None follows from the task (`complete`)."""

    task: str = "copy"
    encoding: str = "shaw"
    k: int | None = None  # only for shaw
    terms: str = "both"  # which of the two tables shaw has
    layers: int | None = None
    causal: bool | None = None
    steps: int | None = None


def complete(setting):
    """The setting with every None filled in; words that are no choice are refused.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> complete(Setting(task="order"))
    Setting(task='order', encoding='shaw', k=4, terms='both', layers=1, causal=False, steps=400)
    """
    choices = {"task": tuple(TASKS), "encoding": ENCODINGS, "terms": TERMS}
    for name, allowed in choices.items():
        if getattr(setting, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, got {getattr(setting, name)!r}")
    if setting.encoding != "shaw" and (setting.k is not None or setting.terms != "both"):
        raise ValueError(
            f"k and terms belong to encoding 'shaw', but the encoding is {setting.encoding!r}: "
            f"leave them out"
        )
    task = TASKS[setting.task]
    k = 4 if setting.encoding == "shaw" and setting.k is None else setting.k
    numbers = {
        "k": k,
        "layers": task.num_layers if setting.layers is None else setting.layers,
        "steps": task.steps if setting.steps is None else setting.steps,
    }
    for name, minimum in {"k": 0, "layers": 1, "steps": 1}.items():
        if numbers[name] is not None and numbers[name] < minimum:
            raise ValueError(f"{name} must be at least {minimum}, got {numbers[name]}")
    causal = task.causal if setting.causal is None else setting.causal
    return setting._replace(**numbers, causal=causal)


def setting_name(setting):
    """A short name, good for a file: what differs from the usual run of the task.

    >>> setting_name(Setting(task="text", k=8, terms="key"))
    'text-shaw-k8-key'
    >>> setting_name(Setting(encoding="none", layers=2))
    'copy-none-layers2'
    """
    setting = complete(setting)
    task = TASKS[setting.task]
    parts = [setting.task, setting.encoding]
    parts += [f"k{setting.k}"] if setting.k is not None else []
    parts += [setting.terms] if setting.terms != "both" else []
    parts += [f"layers{setting.layers}"] if setting.layers != task.num_layers else []
    parts += ["causal" if setting.causal else "bidirectional"] * (setting.causal != task.causal)
    parts += [f"steps{setting.steps}"] if setting.steps != task.steps else []
    return "-".join(parts)


def parameters_of(setting, seed):
    """The parameters before training: they depend on the setting and the seed alone."""
    setting = complete(setting)
    task = TASKS[setting.task]
    return initial_parameters(
        np.random.default_rng([seed, 0]), vocabulary=task.vocabulary, classes=task.classes,
        num_layers=setting.layers, inner_dim=task.inner_dim,
        learned=setting.encoding == "learned", tables=table_shapes(setting),
    )


def table_shapes(setting):
    """What the encoding of a complete setting has to learn in each layer, in the two places.

    Of Shaw's tables, `terms` keeps both, one or neither. The other encodings' parameters take
    the places that `attentions` gives them.
    """
    num_heads = TASKS[setting.task].num_heads
    head_dim = MODEL_DIM // num_heads
    if setting.encoding == "shaw":
        names = {"both": ("key", "value"), "neither": ()}.get(setting.terms, (setting.terms,))
        return {f"relative_{name}_table": (2 * setting.k + 1, head_dim) for name in names}
    if setting.encoding == "t5":
        return {"relative_key_table": (T5_BUCKETS, num_heads)}
    if setting.encoding == "transformer_xl":
        return {
            "relative_key_table": (num_heads, MODEL_DIM, head_dim),
            "relative_value_table": (2, num_heads, head_dim),
        }
    return {}


def model_options(setting, length):
    """The arguments of `model_forward` that the setting decides."""
    return {
        "num_heads": TASKS[setting.task].num_heads,
        "sinusoidal": setting.encoding == "sinusoidal",
        "mask": np.tri(length, dtype=bool) if setting.causal else None,
    }
