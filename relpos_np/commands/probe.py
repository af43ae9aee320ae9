"""Read an implementation from outside."""

SUMMARY = "read table rows, scales, softmax axis and mask behaviour out of a function"


def add_arguments(parser):
    """Options of the command."""
    parser.add_argument("candidate", help="file.py:function or package.module:function")
    parser.add_argument("--framework", choices=("torch", "jax"),
                        help="the candidate takes tensors")
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32", "float16"))
    parser.add_argument("--isolated", action="store_true",
                        help="in a process of its own: a candidate that crashes or ends the "
                             "process is exit 4")


def run(arguments):
    """0 if it was read, 4 if it could not be."""
    from relpos_np.verify.doors import guarded
    from relpos_np.verify.isolated import run_isolated

    if arguments.isolated:
        return run_isolated("probe", arguments)
    return guarded(lambda: probed(arguments))


def probed(arguments):
    from relpos_np.verify import probe
    from relpos_np.verify.doors import stdout_kept

    with stdout_kept():
        read = probe(
            arguments.candidate, dtype=arguments.dtype, framework=arguments.framework)
    print(read, flush=True)
    return 4 if read.key_index is None and read.row_sum is None else 0
