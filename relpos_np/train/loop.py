"""The training loop. A step depends on the state before it, the seed and its number: nothing else.

So a run that was interrupted and resumed gives the same bits as one that was not.
"""

from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from relpos_np.train.adam import AdamState, adam_start, adam_step, learning_rate_at
from relpos_np.train.attentions import attention_pair
from relpos_np.train.cross_entropy import cross_entropy_backward, cross_entropy_forward
from relpos_np.train.model import model_backward, model_forward
from relpos_np.train.setting import complete, model_options, parameters_of, setting_name
from relpos_np.train.task import TASKS

BATCH = 32
WARMUP_STEPS = 100


class TrainState(NamedTuple):
    """All that the next step needs, and the losses so far."""

    parameters: dict
    adam: AdamState
    losses: np.ndarray  # (steps done,)


def start(setting, seed):
    """The state before the first step."""
    parameters = parameters_of(setting, seed)
    return TrainState(parameters, adam_start(parameters), np.zeros(0))


def batch_of_step(setting, seed, step):
    """The batch of step 1, 2, ..: the same for every encoding."""
    task = TASKS[setting.task]
    rng = np.random.default_rng([seed, step])
    shortest, longest = task.train_lengths
    return task.make_batch(rng, BATCH, int(rng.integers(shortest, longest + 1)))


def train_step(setting, seed, state):
    """The state after one more step."""
    setting = complete(setting)
    step = state.adam.step + 1
    batch = batch_of_step(setting, seed, step)
    options = model_options(setting, batch.tokens.shape[1])
    attend, attend_backward = attention_pair(setting.encoding)
    logits, cache = model_forward(state.parameters, batch.tokens, **options, attention=attend)
    loss, loss_cache = cross_entropy_forward(logits, batch.targets, batch.scored)
    grad_logits = cross_entropy_backward(loss_cache)
    grads = model_backward(grad_logits, cache, attention=attend_backward)
    learning_rate = learning_rate_at(
        step, peak=TASKS[setting.task].peak, warmup_steps=WARMUP_STEPS, total_steps=setting.steps
    )
    parameters, adam = adam_step(state.parameters, grads, state.adam, learning_rate)
    return TrainState(parameters, adam, np.append(state.losses, loss))


def train(setting, seed, state=None, *, keep=None, keep_every=100, progress=True):
    """Train to the last step, from the start or from where `state` stands.

    Parameters
    ----------
    setting : Setting
    seed : int
    state : TrainState, optional
    keep : callable, optional
        Called with the state every `keep_every` steps, at the end, and when interrupted.
    keep_every : int, optional
    progress : bool, optional
        Show a progress bar on standard error.

    Returns
    -------
    TrainState

    Examples
    --------
    >>> from relpos_np.train.setting import Setting
    >>> state = train(Setting(task="parity", encoding="learned", steps=20), 0, progress=False)
    >>> len(state.losses), bool(state.losses[-1] < state.losses[0])
    (20, True)
    """
    setting = complete(setting)
    state = start(setting, seed) if state is None else state
    try:
        with tqdm(
            total=setting.steps, initial=state.adam.step, disable=not progress, leave=False,
            desc=f"{setting_name(setting)} seed {seed}",
        ) as bar:
            while state.adam.step < setting.steps:
                # One assignment: an interrupt finds the state before the step or after it.
                state = train_step(setting, seed, state)
                bar.update()
                if keep is not None and state.adam.step % keep_every == 0:
                    keep(state)
    finally:
        if keep is not None:
            keep(state)
    return state
