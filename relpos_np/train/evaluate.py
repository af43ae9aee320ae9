"""How well a trained model answers, by the length of the sequence."""

import numpy as np

from relpos_np.train.attentions import attention_pair
from relpos_np.train.cross_entropy import cross_entropy_forward
from relpos_np.train.model import model_forward
from relpos_np.train.setting import complete, model_options
from relpos_np.train.task import TASKS
from relpos_np.train.tasks import COPY_OFFSET

TEST_SEED = 2**32 - 1  # no training seed: the same test sequences for every run
TEST_TOKENS = 16384  # as many sequences of a length as give this many tokens, or a task's minimum
CHUNK_TOKENS = 4096  # so many at a time, to bound the memory


def evaluate(setting, parameters, lengths=None):
    """What the task measures, at each test length.

    Parameters
    ----------
    setting : Setting
    parameters : dict of str to ndarray
    lengths : tuple of int, optional
        Those of the task by default.

    Returns
    -------
    dict of int to float
        On text, at a length beyond the training lengths, only the positions beyond them count.
    """
    setting = complete(setting)
    lengths = TASKS[setting.task].test_lengths if lengths is None else lengths
    return {length: score_at(setting, parameters, length) for length in lengths}


def score_at(setting, parameters, length):
    """The score at one length: the mean over all scored positions of all test sequences."""
    attend, _ = attention_pair(setting.encoding)
    score_batch = MEASURES[TASKS[setting.task].measure]
    total = count = 0
    for batch in evaluation_batches(setting, length):
        options = model_options(setting, length)
        logits, cache = model_forward(parameters, batch.tokens, **options, attention=attend)
        num_scored = np.count_nonzero(batch.scored)
        total += num_scored * score_batch(logits, cache, batch)
        count += num_scored
    return float(np.max(total / count))  # of the heads, if there is a score for each


def accuracy(logits, cache, batch):
    """Share of the scored positions where the right class has the highest logit."""
    return np.mean((logits.argmax(axis=-1) == batch.targets)[batch.scored])


def nats(logits, cache, batch):
    """Cross entropy."""
    return float(cross_entropy_forward(logits, batch.targets, batch.scored)[0])


def target_weight(logits, cache, batch):
    """Attention of each head on the token that the copy task asks for."""
    weights = cache.blocks[0].attention.attention.weights
    return np.diagonal(weights, -COPY_OFFSET, axis1=2, axis2=3).mean(axis=(0, 2), dtype=float)


MEASURES = {"accuracy": accuracy, "nats": nats, "target weight": target_weight}


def evaluation_batches(setting, length):
    """The test sequences of one length, in chunks."""
    task = TASKS[setting.task]
    rng = np.random.default_rng([TEST_SEED, length])
    left = max(task.min_test_sequences, TEST_TOKENS // length)
    while left > 0:
        chunk = min(left, max(1, CHUNK_TOKENS // length))
        left -= chunk
        batch = task.make_test_batch(rng, chunk, length)
        longest = task.train_lengths[1]
        if task.measure == "nats" and length > longest:
            batch.scored[:, :longest] = False
        yield batch
