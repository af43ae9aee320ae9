"""A command in a process of its own, whose code is trusted only if the command came to its end."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def run_isolated(command, arguments):
    """The same command in another process; a crash or an early end of it is exit 4.

    A candidate that ends the process may well end it with code 0, so the other process writes
    down the code of its verdict, and no other code counts.

    Parameters
    ----------
    command : str
    arguments : argparse.Namespace
        Those of the command; `isolated` is left out.

    Returns
    -------
    int
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code"
        code = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", __name__, str(path), command,
             *words_of(arguments)], check=False).returncode
        if path.exists():
            return int(path.read_text())
    how = (f"crashed ({signal.Signals(-code).name})" if code < 0 else  # faulthandler said where
           f"ended the process (exit code {code})")
    print(f"CANNOT RUN: the candidate {how}", file=sys.stderr)
    return 4


def words_of(arguments):
    """Parsed arguments as the words of a command line."""
    words = []
    for name, value in vars(arguments).items():
        if name in ("candidate", "isolated", "run") or value in (None, False, ""):
            continue
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [f"{option}={value}"]
    return [arguments.candidate, *words] if arguments.candidate else words


def run_and_note(path, *words):
    """Run a command, then write its code to `path`."""
    from relpos_np.__main__ import main

    code = main(words)
    sys.stdout.flush()
    Path(path).write_text(str(code))
    return code


if __name__ == "__main__":
    sys.exit(run_and_note(*sys.argv[1:]))
