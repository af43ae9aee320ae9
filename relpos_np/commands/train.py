"""Train one setting, or every setting of the published table, and print how well it does."""

import json
import os
import signal
import sys
from pathlib import Path

SUMMARY = "train small models with our own backward passes, and print the scores by length"

UNITS = {
    "accuracy": "accuracy",
    "nats": "nats per character",
    "target weight": "attention on the token to be copied",
}


def add_arguments(parser):
    """Options of the command; what is left out follows from the task."""
    parser.add_argument("--task", help="copy (default), order, induction, reversal, parity, text "
                        "(masked characters), next (next characters) or dilution (copy; its "
                        "weights are measured)")
    parser.add_argument("--encoding", help="shaw (default), none, sinusoidal, learned, t5, "
                        "alibi, rope or transformer_xl")
    parser.add_argument("--k", type=int, help="shaw: clipping distance (default: 4)")
    parser.add_argument("--terms", help="shaw: both tables (default), key, value or neither")
    parser.add_argument("--layers", type=int, help="attention layers")
    parser.add_argument("--causal", action="store_true", default=None, help="hide the future")
    parser.add_argument("--steps", type=int, help="training steps")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, default=0, help="one run (default: 0)")
    which.add_argument("--seeds", type=int, metavar="N", help="seeds 0 .. N-1; if no setting is "
                       "given, of every setting of the published table")
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="DIR",
                        help="where runs are kept, to resume them (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the scores to FILE too")


def run(arguments):
    """Exit code 0; 2 for a setting that is none; 130 if interrupted."""
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        experiments, seeds = what_to_run(arguments)
        scores = run_all(experiments, seeds, arguments.runs)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; what was done is in {arguments.runs}, and the same command goes on there",
              file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    print_tables(experiments, scores)
    if arguments.json:
        write_json(arguments.json, scores)
    return 0


def interrupt(signal_number, frame):
    raise KeyboardInterrupt


def what_to_run(arguments):
    """The settings by experiment, and the seeds."""
    from relpos_np.train.published import EXPERIMENTS
    from relpos_np.train.setting import Setting, complete
    from relpos_np.validate import whole_number

    given = {name: getattr(arguments, name) for name in Setting._fields}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.seeds is None:
        seeds = [whole_number("--seed", arguments.seed, minimum=0)]
    else:
        seeds = range(whole_number("--seeds", arguments.seeds, minimum=1))
    if arguments.seeds is not None and not given:
        return EXPERIMENTS, seeds
    setting = complete(Setting(**given))
    return {setting.task: [setting]}, seeds


def run_all(experiments, seeds, folder):
    """Scores by setting and length, one per seed; seed by seed, so that every setting gets one."""
    from tqdm import tqdm

    from relpos_np.train.published import settings_of
    from relpos_np.train.run import run as run_one

    settings = settings_of(experiments)
    scores = {name: {} for name in settings}
    todo = [(seed, name) for seed in seeds for name in settings]
    for seed, name in tqdm(todo, desc="runs", disable=len(todo) == 1):
        for length, score in run_one(settings[name], seed, folder).items():
            scores[name].setdefault(length, []).append(score)
    return scores


def print_tables(experiments, scores):
    """One table per experiment."""
    from relpos_np.train.run import score_table
    from relpos_np.train.setting import setting_name
    from relpos_np.train.task import TASKS

    for title, settings in experiments.items():
        names = [setting_name(setting) for setting in settings]
        print(f"\n{title}: {UNITS[TASKS[settings[0].task].measure]} by length")
        print(score_table({name: scores[name] for name in names}))


def write_json(path, scores):
    """The scores and the command that made them; written whole or not at all."""
    import numpy as np

    words = ["python", "-m", "relpos_np", *sys.argv[1:]]
    about = {"command": " ".join(words), "numpy": np.__version__, "scores": scores}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
