"""How each task is trained and tested: lengths, steps, learning rate, size of the model."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from relpos_np.train import tasks, text


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
    measure: str = "accuracy"  # or "nats", or "target weight"


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
    "dilution": synthetic(
        tasks.copy_batch, steps=800, test_lengths=(32, 64, 128, 256, 512, 1024),
        min_test_sequences=8, measure="target weight",
    ),
    "text": real_text(text.masked_batch),
    "next": real_text(text.next_batch, causal=True),
}
