"""One run from seed to scores, kept on disk, and tables of many."""

from relpos_np.train.checkpoint import checkpoint_path, load_checkpoint, save_checkpoint
from relpos_np.train.evaluate import evaluate
from relpos_np.train.loop import train


def run(setting, seed, folder, *, progress=True):
    """Train and test one setting with one seed, or go on where an earlier call was stopped.

    Parameters
    ----------
    setting : Setting
    seed : int
    folder : str or Path
        Where the run is kept. A run that is finished is read from there.
    progress : bool, optional

    Returns
    -------
    dict of int to float
        Scores by test length, as `evaluate` gives them.

    Raises
    ------
    ValueError
        If the folder holds another run under this one's name.
    """
    path = checkpoint_path(folder, setting, seed)
    state, scores = load_checkpoint(path, setting, seed) if path.exists() else (None, None)
    if scores is not None:
        return scores

    def keep(state):
        save_checkpoint(path, setting, seed, state)

    state = train(setting, seed, state, keep=keep, progress=progress)
    scores = evaluate(setting, state.parameters)
    save_checkpoint(path, setting, seed, state, scores)
    return scores


def score_table(scores, title=""):
    """Mean over the seeds and, with more than one, the lowest and highest, as lines of text.

    Parameters
    ----------
    scores : dict of str to dict of int to list of float
        By name of the setting, then by test length; one number per seed.
    title : str, optional

    Returns
    -------
    str

    Examples
    --------
    >>> print(score_table({"copy-none": {16: [0.25, 0.75], 32: [0.5, 0.5]}}, "accuracy"))
    accuracy          16                 32
    copy-none  0.500 (0.250-0.750)  0.500 (0.500-0.500)
    """
    rows = [[title, *map(str, next(iter(scores.values())))]]
    rows += [[name, *map(mean_and_range, by_length.values())] for name, by_length in scores.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[row[0].ljust(widths[0])] + [
        cell.center(width) for cell, width in zip(row[1:], widths[1:], strict=True)
    ] for row in rows]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def mean_and_range(numbers):
    """``0.500 (0.250-0.750)``, or ``0.500`` alone if there is one number.

    >>> mean_and_range([0.5])
    '0.500'
    """
    mean = f"{sum(numbers) / len(numbers):.3f}"
    return mean if len(numbers) == 1 else f"{mean} ({min(numbers):.3f}-{max(numbers):.3f})"
