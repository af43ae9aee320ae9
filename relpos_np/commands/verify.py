"""Verify someone's attention from the command line."""

import signal
import subprocess
import sys

SUMMARY = "is this function Shaw's relative attention, and if not, what is wrong with it?"


def add_arguments(parser):
    """Options of the command."""
    parser.add_argument("candidate", nargs="?",
                        help="file.py:function or package.module:function")
    parser.add_argument("--grads", metavar="FUNCTION",
                        help="its gradient function, named in the same way")
    parser.add_argument("--layer", action="store_true",
                        help="the candidate is the whole layer, with its projections")
    parser.add_argument("--framework", choices=("torch", "jax"),
                        help="the candidate takes tensors; autograd gives its gradients")
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32", "float16"))
    parser.add_argument("--without", default="", metavar="WORDS",
                        help="leave out cases by id or tag, for instance mask,cross")
    parser.add_argument("--results", metavar="DIR",
                        help="judge result files of a port in another language")
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON too")
    parser.add_argument("--plot", metavar="FILE",
                        help="draw where it differs, over query and key (.svg or .png)")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS",
                        help="for each call (default: 10, with JAX 120)")
    parser.add_argument("--isolated", action="store_true",
                        help="in a process of its own: a crash in compiled code ends in exit 4")


def run(arguments):
    """0 pass, 1 mistake, 2 convention or rescale, 3 unknown, 4 could not run."""
    if bool(arguments.candidate) == bool(arguments.results):
        print("name one candidate, or --results DIR", file=sys.stderr)
        return 4
    if arguments.isolated:
        return run_isolated(arguments)
    from relpos_np.verify import verify, verify_results

    without = [word for word in arguments.without.split(",") if word]
    options = {"layer": arguments.layer, "dtype": arguments.dtype, "without": without}
    try:
        if arguments.results:
            report = verify_results(arguments.results, **options)
        else:
            report = verify(arguments.candidate, grads=arguments.grads,
                            framework=arguments.framework, time_limit=arguments.time_limit,
                            **options)
    except ValueError as error:
        print(f"CANNOT RUN: {error}", file=sys.stderr)
        return 4
    print(report)
    if arguments.json:
        report.to_json(arguments.json)
    if arguments.plot and report.where:
        from relpos_np.plots import save_figure

        print(f"wrote {save_figure(report.plot(), arguments.plot)}")
    return report.exit_code


def run_isolated(arguments):
    """The same command in another process, whose crash is reported instead of shared."""
    words = [arguments.candidate] if arguments.candidate else []
    for name, value in vars(arguments).items():
        option = f"--{name.replace('_', '-')}"
        if name in ("candidate", "isolated", "run") or not value:
            continue
        words += [option] if value is True else [option, str(value)]
    command = [sys.executable, "-X", "faulthandler", "-m", "relpos_np", "verify", *words]
    code = subprocess.run(command, check=False).returncode
    if code < 0:  # a signal; faulthandler has shown where
        print(f"CANNOT RUN: the candidate crashed ({signal.Signals(-code).name})", file=sys.stderr)
        return 4
    return code
