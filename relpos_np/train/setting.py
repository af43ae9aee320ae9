"""What distinguishes one run from another: a task, an encoding and a few numbers."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from relpos_np.train import tasks, text
from relpos_np.train.initial import initial_parameters

ENCODINGS = ("none", "sinusoidal", "learned", "shaw")
TERMS = ("both", "key", "value", "neither")


class Task(NamedTuple):
    """How a task is trained and tested."""

    make_batch: Callable  # (rng, batch, length) -> Batch
    make_test_batch: Callable
    vocabulary: int
    classes: int
    steps: int
    peak: float  # learning rate after the warm-up
    test_lengths: tuple
    train_lengths: tuple = (8, 32)  # one length per batch, both ends included
    min_test_sequences: int = 64
    num_heads: int = 4
    num_layers: int = 1
    inner_dim: int | None = None
    causal: bool = False
    measure: str = "accuracy"  # or "nats"


def synthetic(make_batch, *, classes=tasks.VOCABULARY, steps=600, peak=1e-2, **rest):
    return Task(
        make_batch, make_batch, vocabulary=tasks.VOCABULARY, classes=classes, steps=steps,
        peak=peak, **{"test_lengths": (16, 32, 64, 128, 256), **rest},
    )


def real_text(make_batch, causal=False):
    return Task(
        make_batch, partial(make_batch, test=True), vocabulary=text.VOCABULARY,
        classes=text.VOCABULARY, steps=500, peak=2e-2, test_lengths=(32, 256), inner_dim=64,
        causal=causal, measure="nats",
    )


TASKS = {
    "copy": synthetic(tasks.copy_batch),
    "order": synthetic(tasks.order_batch, classes=2, steps=400, min_test_sequences=256),
    "induction": synthetic(
        tasks.induction_batch, steps=1000, peak=5e-3, num_heads=2, num_layers=2, causal=True
    ),
    "reversal": synthetic(
        tasks.reversal_batch, train_lengths=(16, 16), test_lengths=(12, 16, 20, 32)
    ),
    "parity": synthetic(tasks.parity_batch, classes=2),
    "text": real_text(text.masked_batch),
    "next": real_text(text.next_batch, causal=True),
}


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
        num_heads=task.num_heads, num_layers=setting.layers, inner_dim=task.inner_dim,
        learned=setting.encoding == "learned", k=setting.k,
        key_table=setting.terms in ("both", "key"), value_table=setting.terms in ("both", "value"),
    )


def model_options(setting, length):
    """The arguments of `model_forward` that the setting decides."""
    return {
        "num_heads": TASKS[setting.task].num_heads,
        "sinusoidal": setting.encoding == "sinusoidal",
        "mask": np.tri(length, dtype=bool) if setting.causal else None,
    }
