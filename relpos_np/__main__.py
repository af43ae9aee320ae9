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
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a file that cannot be read or written
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
