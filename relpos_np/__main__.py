"""The doors: ``python -m relpos_np COMMAND``, one file per command in `relpos_np.commands`."""

import argparse
import importlib
import os
import sys

# In the order of the help text. Each module has SUMMARY, add_arguments(parser) and
# run(arguments) -> exit code; it imports what is heavy inside `run`.
COMMANDS = ("tour", "figures", "conventions", "encodings", "notebooks", "exercises", "train",
            "bench",
            "verify", "probe", "explain", "cases")

# The exit code of a command that could not do its work, where 2 says something else.
COULD_NOT = {"verify": 4, "probe": 4}


def main(argv=None):
    """Run one command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="relpos-np",
        description="Relative position representations in self-attention, in NumPy.",
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        command = importlib.import_module(f"relpos_np.commands.{name}")
        subparser = subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    words = sys.argv[1:] if argv is None else argv
    could_not = COULD_NOT.get(words[0] if words else "", 2)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as stop:  # argparse has said why; 0 after --help
        sys.exit(stop.code and could_not)
    try:
        return arguments.run(arguments)
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return could_not
    except OSError as error:  # a file that cannot be read or written
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return could_not


if __name__ == "__main__":
    sys.exit(main())
