"""What a port in another language wrote, read back to be judged (exchange.py has the format)."""

import json
from pathlib import Path

import numpy as np

from relpos_np.verify.answers import Refused
from relpos_np.verify.contract import array_faults
from relpos_np.verify.expected import useful
from relpos_np.verify.one_line import one_line
from relpos_np.verify.run import Run

NO_FILE = "no result file"


def read_results(directory, cases, dtype):
    """What a port wrote, as runs to be judged, and why some cases are missing.

    Returns
    -------
    list of Run
    dict of str to str

    Raises
    ------
    ValueError
        If the directory does not exist or holds no result of any case.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise ValueError(f"there is no directory {str(directory)!r}")
    runs, missing = [], {}
    for case in cases:
        paths = [directory / f"{case.id}{suffix}" for suffix in (".json", ".npz")]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            missing[case.id] = NO_FILE
        elif not useful(case, dtype):
            missing[case.id] = f"in {dtype} roundings alone may change its output"
        else:
            runs.append(read_run(path, case, dtype))
    if not runs:
        raise ValueError(f"{directory} holds no result: name the files {cases[0].id}.json, ...")
    return runs, missing


def read_run(path, case, dtype):
    """One result file as a run; a file that cannot be read is a fault of that case."""
    try:
        if path.suffix == ".npz":
            with np.load(path) as archive:
                arrays = {name: archive[name] for name in archive.files}
        else:
            content = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, dict):
                raise Refused("it is not a JSON object")
            arrays = {name: from_json(entry) for name, entry in content.items()
                      if isinstance(entry, dict)}
        if "output" not in arrays:
            raise Refused("it has no 'output'")
        stages = {name: array.astype(dtype) for name, array in arrays.items()
                  if not name.startswith("grad_")}
        grads = {name.removeprefix("grad_"): array.astype(dtype)
                 for name, array in arrays.items() if name.startswith("grad_")}
        faults = tuple(array_faults(stages["output"], case, dtype))
    except Exception as error:
        why = str(error) if isinstance(error, Refused) else one_line(error)
        fault = ("no_array", f"{path.name} cannot be read: {why}")
        return Run(case, {}, {}, faults=(fault,))
    grads = {name: grad for name, grad in grads.items() if case.inputs.get(name) is not None}
    return Run(case, stages, grads, faults=faults)


def from_json(entry):
    return np.array([float(x) for x in entry["data"]]).reshape(entry["shape"])
