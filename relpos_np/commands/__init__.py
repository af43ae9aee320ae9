"""One file per command of ``python -m relpos_np``, and what several of them ask."""

import argparse
from pathlib import Path


def add_output_argument(parser):
    """``--output DIR``, refused before any work is done if no file can be put there."""
    parser.add_argument(
        "--output", type=folder, default="figures", metavar="DIR",
        help="where the figures go (default: %(default)s)",
    )


def folder(path):
    """A folder that exists, made if need be."""
    if not path:
        raise argparse.ArgumentTypeError("a folder has a name; . is the current one")
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot make the folder {path}: {error}") from None
    return Path(path)
