"""Time by turns: in every round each contestant runs once, so all meet the same disturbances.

What is reported of a contestant is the median of its times, and the median over the rounds of
its time divided by the reference's time *in the same round*. A call of less than a few
milliseconds is repeated, since a single one shows how cold the caches were.
"""

import contextlib
import time
from typing import NamedTuple

import numpy as np

from relpos_np.fast.threads import blas_threads


class Timing(NamedTuple):
    """Medians of one contestant: seconds, and times the reference."""

    forward: float
    both: float
    forward_ratio: float
    both_ratio: float
    rounds: int


@contextlib.contextmanager
def all_threads(number):
    """The same number of threads for BLAS, for ours and, if it is loaded, for torch."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(number)
    with blas_threads(number):
        yield


# The threads of BLAS and OpenMP wait for more work in a busy loop before they sleep: so long that
# after a call of torch's the next contestant would have to share the cores with them.
PAUSE = 0.02
SHORTEST = 0.005


def seconds(call):
    """How long a call takes; its result is dropped after the clock is read."""
    time.sleep(PAUSE)
    elapsed = calls = 0
    while elapsed < SHORTEST:
        start = time.perf_counter()
        result = call()
        elapsed += time.perf_counter() - start
        del result
        calls += 1
    return elapsed / calls


def time_by_turns(calls, rounds, budget, on_round=lambda: None):
    """Time several pairs of calls against the first.

    Parameters
    ----------
    calls : dict of str to (callable, callable)
        Forward, and forward with backward. The first is the reference.
    rounds : int
    budget : float
        Seconds for one contestant: after that it takes part in no more rounds. All take part in
        the first, which warms up and counts only for those that get no other.
    on_round : callable
        Called after each, for a progress bar.

    Returns
    -------
    dict of str to Timing
    """
    measured = {name: [] for name in calls}  # (round, forward, both)
    for number in range(rounds + 1):
        for name, (forward, both) in calls.items():
            if sum(forward + both for _, forward, both in measured[name]) <= budget:
                measured[name].append((number, seconds(forward), seconds(both)))
        on_round()
    reference = {number: times for number, *times in measured[next(iter(calls))]}
    return {name: medians(entries, reference) for name, entries in measured.items()}


def medians(entries, reference):
    """The `Timing` of one contestant from its (round, forward, both)."""
    entries = entries[1:] or entries
    times = np.array([times for _, *times in entries])
    ratios = np.array([
        np.divide(times, reference.get(number, np.nan)) for number, *times in entries
    ])
    return Timing(*np.median(times, axis=0), *np.nanmedian(ratios, axis=0), len(entries))
