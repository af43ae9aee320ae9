"""``python -m relpos_np bench``: time and memory of the ladder, and of PyTorch beside it."""

import argparse
import os
from pathlib import Path

SUMMARY = "time and memory of every rung, and of PyTorch's forms if it is installed"


def add_arguments(parser):
    """Options of the command."""
    parser.add_argument("--length", type=positive, nargs="+", default=[128, 512, 1024],
                        metavar="L", help="queries and keys (default: 128 512 1024)")
    parser.add_argument("--batch", type=positive, default=1)
    parser.add_argument("--heads", type=positive, default=8)
    parser.add_argument("--head-dim", type=positive, default=64)
    parser.add_argument("--k", type=natural, default=16, help="max_relative_position")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--causal", action="store_true", help="under a causal mask")
    parser.add_argument("--threads", type=positive, help="for all (default: BLAS's own number)")
    parser.add_argument("--rounds", type=positive, default=9, help="turns (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=10.0, metavar="SECONDS",
                        help="of a contestant and length (default: %(default)s)")
    parser.add_argument("--no-memory", action="store_true", help="measure time only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    parser.add_argument("--output", type=Path, metavar="DIR", help="draw bench_*.svg there")


def run(arguments):
    """Measure, print the tables, write what was asked for; returns 0."""
    import json

    from tqdm import tqdm

    from relpos_np.commands.benching.measure import measure
    from relpos_np.commands.benching.problem import Problem
    from relpos_np.commands.benching.report import bench_figures, table
    from relpos_np.fast.threads import num_threads

    problem = Problem(
        length=0, batch=arguments.batch, num_heads=arguments.heads, head_dim=arguments.head_dim,
        max_relative_position=arguments.k, causal=arguments.causal, dtype=arguments.dtype,
    )
    with tqdm(bar_format="{desc} [{elapsed}]", leave=False) as bar:
        measurement = measure(
            problem, arguments.length, arguments.threads or num_threads(), arguments.rounds,
            arguments.budget, not arguments.no_memory, progress=bar.set_description_str,
        )
    threads = f"{measurement['threads']} thread{'s' * (measurement['threads'] > 1)}"
    print(f"{measurement['problem']}; {threads}; {measurement['software']}")
    print("[K]: the key table only, as that software has it; all others use both tables or none\n")
    for length in measurement["lengths"]:
        print("\n".join(table(measurement, length)) + "\n")
    if arguments.json:
        write_text(arguments.json, json.dumps(measurement, indent=1) + "\n")
    if arguments.output:
        from relpos_np import plots

        for name, figure in bench_figures(measurement).items():
            print(f"wrote {plots.save_figure(figure, arguments.output / name)}")
    return 0


def natural(text):
    """A whole number, 0 or more."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


def positive(text):
    """A whole number, 1 or more."""
    number = natural(text)
    if number == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return number


def write_text(path, text):
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
