"""Verify someone's attention from the command line."""


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
                        help="in a process of its own: a candidate that crashes or ends the "
                             "process, with whatever code, is exit 4; use it for compiled code")


def run(arguments):
    """0 pass, 1 mistake, 2 convention or rescale, 3 unknown, 4 could not run."""
    from relpos_np.verify.doors import guarded
    from relpos_np.verify.isolated import run_isolated

    if arguments.isolated:
        return run_isolated("verify", arguments)
    return guarded(lambda: verified(arguments))


def verified(arguments):
    """Say what there is to say about the candidate or the results, and write the files."""
    from relpos_np.verify.doors import stdout_kept

    check(arguments)
    with stdout_kept():
        report = report_on(arguments)
    if arguments.json:
        report.to_json(arguments.json)
    print(report, flush=True)
    if arguments.plot and report.where:
        from relpos_np.plots import save_figure

        print(f"wrote {save_figure(report.plot(), arguments.plot)}", flush=True)
    elif arguments.plot:
        print(f"nothing to plot: {arguments.plot} was not written", flush=True)
    return report.exit_code


def check(arguments):
    """Refuse what cannot be done before any work is; make the folders of files to write."""
    from pathlib import Path

    if bool(arguments.candidate) == bool(arguments.results):
        raise ValueError("name one candidate, or --results DIR")
    for option in ("grads", "framework", "time_limit") if arguments.results else ():
        if getattr(arguments, option) is not None:
            raise ValueError(f"--{option.replace('_', '-')} has no meaning with --results")
    if arguments.plot and not arguments.plot.endswith((".svg", ".png")):
        raise ValueError(f"--plot {arguments.plot}: a figure's name ends in .svg or .png")
    for file in (arguments.json, arguments.plot):
        if file and Path(file).is_dir():
            raise ValueError(f"{file} is a folder: name a file")
        if file:
            Path(file).parent.mkdir(parents=True, exist_ok=True)


def report_on(arguments):
    from relpos_np.verify import verify, verify_results

    options = {"layer": arguments.layer, "dtype": arguments.dtype, "without": arguments.without}
    if arguments.results:
        return verify_results(arguments.results, **options)
    return verify(arguments.candidate, grads=arguments.grads, framework=arguments.framework,
                  time_limit=arguments.time_limit, **options)
