"""The doors: ``python -m relpos_np COMMAND``, one file per command in `relpos_np.commands`."""

import argparse
import importlib
import sys

# In the order of the help text. Each module has SUMMARY, add_arguments(parser) and
# run(arguments) -> exit code; it imports what is heavy inside `run`.
COMMANDS = ("tour", "figures", "conventions", "encodings", "notebooks", "train",
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
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
