"""Read an implementation from outside."""

import sys

SUMMARY = "read table rows, scales, softmax axis and mask behaviour out of a function"


def add_arguments(parser):
    """Options of the command."""
    parser.add_argument("candidate", help="file.py:function or package.module:function")
    parser.add_argument("--framework", choices=("torch", "jax"),
                        help="the candidate takes tensors")
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32", "float16"))


def run(arguments):
    """0 if it was read, 4 if it could not be."""
    from relpos_np.verify import probe
    from relpos_np.verify.candidate import load_candidate
    from relpos_np.verify.frameworks import adapt

    try:
        candidate = load_candidate(arguments.candidate)
        if arguments.framework:
            candidate, _ = adapt(candidate, None, arguments.framework)
    except ValueError as error:
        print(f"CANNOT RUN: {error}", file=sys.stderr)
        return 4
    read = probe(candidate, dtype=arguments.dtype)
    print(read)
    return 4 if read.key_index is None and read.row_sum is None else 0
