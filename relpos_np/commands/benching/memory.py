"""Peak memory of a call, measured in a process of its own.

The process makes the inputs, warms up on a tiny problem, and then asks the kernel, before and
after the call, for its resident memory: now, and at its highest since the mark was reset. The
difference is what the call needed at most, results included. Only Linux can reset the mark;
elsewhere nothing is reported.
"""

import json
import subprocess
import sys
from pathlib import Path

from relpos_np.commands.benching.problem import Problem, make_inputs

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def can_measure():
    """Is this a system whose kernel can be asked?"""
    return RESET.exists() and "VmHWM" in STATUS.read_text()


def resident(field):
    """VmRSS (now) or VmHWM (highest since the reset) in bytes."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def growth(call):
    """Bytes by which the process grew at most during a call."""
    RESET.write_text("5")
    before = resident("VmRSS")
    result = call()
    peak = resident("VmHWM")
    del result
    return max(peak - before, 0)


def peak_memory(name, problem, threads):
    """(forward, forward and backward) growth in bytes of a contestant, in fresh processes.

    Returns
    -------
    tuple of int, or None if it cannot be measured
    """
    if not can_measure():
        return None
    results = []
    for which in (0, 1):
        question = json.dumps([name, problem._asdict(), threads, which])
        answer = subprocess.run(
            [sys.executable, "-m", "relpos_np.commands.benching.memory", question],
            capture_output=True, text=True, check=True,
        )
        results.append(int(answer.stdout))
    return tuple(results)


def main(question):
    """In the fresh process: answer one question."""
    from relpos_np.commands.benching.contestants import contestants
    from relpos_np.commands.benching.timing import all_threads

    name, problem, threads, which = json.loads(question)
    problem = Problem(**problem)
    (contestant,) = (entry for entry in contestants() if entry.name == name)
    with all_threads(threads):
        contestant.prepare(make_inputs(problem._replace(length=8)))[which]()
        with all_threads(threads):  # torch may have been imported only now
            call = contestant.prepare(make_inputs(problem))[which]
            print(growth(call))


if __name__ == "__main__":
    main(sys.argv[1])
