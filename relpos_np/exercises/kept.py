"""What a student has done, in a file beside the notebook: `progress.json` in the working folder."""

import json
import os
from pathlib import Path

FILE = "progress.json"


def load(directory="."):
    """What is kept: {exercise number: {"right": bool, "hints": int}}; nothing if unreadable.

    A file that somebody has edited into something else is put aside, not lost.
    """
    path = Path(directory) / FILE
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {number: {"right": bool(entry["right"]), "hints": int(entry["hints"])}
                for number, entry in kept.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError):
        os.replace(path, path.with_suffix(".unreadable"))
        return {}


def note(number, directory=".", **changes):
    """Change what is kept of one exercise; the file is replaced whole."""
    kept = load(directory)
    kept[number] = {**kept.get(number, {"right": False, "hints": 0}), **changes}
    path = Path(directory) / FILE
    unfinished = path.with_name(f".{FILE}.{os.getpid()}.unfinished")
    unfinished.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
