"""The reference cases: list, export for other languages, generate anew."""

import sys
from pathlib import Path

SUMMARY = "list the reference cases, export them for other languages, generate them anew"


def add_arguments(parser):
    """Options of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="ids, tags, and what each case is for")
    export = actions.add_parser("export", help="write them as files")
    export.add_argument("directory", type=Path)
    export.add_argument("--format", default="json", choices=("json", "npz"))
    generate = actions.add_parser("generate", help="recompute them in 60 digits (minutes)")
    generate.add_argument("ids", nargs="*", help="only these; the others are kept")
    generate.add_argument("--output", type=Path, metavar="FILE",
                          help="default: the package's own file")


def run(arguments):
    """0, or 4 if a case is not known."""
    actions = {"list": list_cases, "export": export_cases, "generate": generate_cases}
    return actions[arguments.action](arguments)


def list_cases(arguments):
    from relpos_np.verify.cases import load_cases

    for case in load_cases():
        print(f"{case.id:<18} {' '.join(case.tags):<18} {case.about}")
    return 0


def export_cases(arguments):
    from relpos_np.verify import exchange

    written = exchange.export_cases(arguments.directory, arguments.format)
    print(f"wrote {len(written)} files to {arguments.directory}; "
          f"relpos_np/verify/exchange.py describes them")
    return 0


def generate_cases(arguments):
    from tqdm import tqdm

    from relpos_np.verify.cases import CASES_FILE, kept_arrays, write_cases
    from relpos_np.verify.generate import generate
    from relpos_np.verify.specs import SPECS

    unknown = set(arguments.ids) - {spec.id for spec in SPECS}
    if unknown:
        print(f"no case is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 4
    specs = [spec for spec in SPECS if not arguments.ids or spec.id in arguments.ids]
    arrays = kept_arrays(without=[spec.id for spec in specs])
    for spec in tqdm(specs, desc="60-digit cases", unit="case"):
        arrays |= {f"{spec.id}/{name}": array for name, array in generate(spec).items()}
    path = arguments.output or CASES_FILE
    write_cases(path, arrays)
    print(f"wrote {path}")
    return 0
