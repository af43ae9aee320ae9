"""What there is to say about a known mistake."""

import sys

SUMMARY = "explain a known mistake by its name, or list them all"


def add_arguments(parser):
    """Options of the command."""
    parser.add_argument("name", nargs="?", help="of the mistake; without it, the list")


def run(arguments):
    """0, or 4 if there is no such name."""
    from relpos_np.verify import explain

    try:
        print(explain(arguments.name))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 4
    return 0
