"""The whole measurement: agreement first, then time, then memory."""

import os
import platform

import numpy as np

from relpos_np.commands.benching.contestants import PLAIN, TILED, contestants
from relpos_np.commands.benching.memory import peak_memory
from relpos_np.commands.benching.problem import make_inputs
from relpos_np.commands.benching.timing import all_threads, time_by_turns

# A contestant that would take longer than this for one call is left out at that length.
LONGEST_CALL = 20.0
AGREEMENT = {"float32": 1e-4, "float64": 1e-11}


def measure(problem, lengths, threads, rounds, budget, with_memory=True, progress=None):
    """Measure every contestant at every length.

    Parameters
    ----------
    problem : Problem
        Its length is not used.
    lengths : sequence of int
    threads : int
        For everyone.
    rounds : int
    budget : float
        Seconds of each contestant and length.
    with_memory : bool
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    dict
        Ready for JSON.
    """
    say = progress or (lambda text: None)
    measurement = {
        "problem": problem.name, "threads": threads, "software": software(),
        "lengths": {}, "relative_over_plain": {},
    }
    last_call = {}
    for length in sorted(lengths):
        sized = problem._replace(length=length)
        entrants = [entry for entry in contestants() if affordable(entry.name, length, last_call)]
        inputs = make_inputs(sized)
        with all_threads(threads):
            say(f"length {length}: agreement")
            calls = {entry.name: entry.prepare(inputs) for entry in entrants}
        with all_threads(threads):  # once more: now torch is imported, if it is to be
            check_agreement(calls, entrants, problem.dtype)
            say(f"length {length}: time")
            timings = time_by_turns(calls, rounds, budget)
        say(f"length {length}: relative over plain")
        measurement["relative_over_plain"][str(length)] = relative_over_plain(
            {name: calls[name] for name in (PLAIN, TILED)}, rounds, budget
        )
        results = {}
        for entry in entrants:
            say(f"length {length}: memory of {entry.name}")
            memory = peak_memory(entry.name, sized, threads) if with_memory else None
            results[entry.name] = {
                **timings[entry.name]._asdict(), "terms": entry.terms, "memory": memory,
            }
            last_call[entry.name] = length, timings[entry.name].both
        measurement["lengths"][str(length)] = results
    return measurement


def affordable(name, length, last_call):
    """Would a call take a bearable time, if it grows with the square of the length?"""
    if name not in last_call:
        return name != "naive" or length <= 64
    before, time = last_call[name]
    return time * (length / before) ** 2 <= LONGEST_CALL


def check_agreement(calls, entrants, dtype):
    """Raise unless all that use the same tables give the same output."""
    outputs = {}
    for entry in entrants:
        output = calls[entry.name][0]()
        name, expected = outputs.setdefault(entry.terms, (entry.name, output))
        difference = np.abs(output - expected).max(initial=0)
        if not difference <= AGREEMENT[dtype]:
            raise ArithmeticError(
                f"{entry.name} and {name} differ by {difference:.1e}: not the same function, "
                f"so their times must not be compared"
            )


def relative_over_plain(calls, rounds, budget):
    """What the relative terms cost: time with tables over time without, one thread, by turns."""
    with all_threads(1):  # two contestants only, and nearly equal: more rounds than for the others
        timing = time_by_turns(calls, 5 * rounds, budget)[TILED]
    return {"forward": timing.forward_ratio, "both": timing.both_ratio}


def software():
    """Versions, in words."""
    import sys

    torch = sys.modules.get("torch")
    return ", ".join(filter(None, (
        f"Python {platform.python_version()}", f"NumPy {np.__version__}",
        torch and f"torch {torch.__version__}", platform.machine(), f"{os.cpu_count()} cores",
    )))
