"""explain(): what there is to say about a known mistake."""

from relpos_np.verify.findings import RIGHT
from relpos_np.verify.mistakes import SECTIONS, find
from relpos_np.verify.words import EXPLANATIONS


def explain(name=None):
    """The words of the catalogue about one mistake, or the list of all names.

    Parameters
    ----------
    name : str, optional

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If no mistake has that name; the message has the nearest ones.

    Examples
    --------
    >>> print(explain("no_scale"))
    no_scale (RESCALE, D. scale)
      written:  q_i . k_j + q_i . aK_ij
      right:    (q_i . k_j + q_i . aK_ij) / sqrt(head_dim)
      Logits grow with head_dim and the softmax saturates.
      convert:  query = query * sqrt(head_dim)
    """
    if name is None:
        return listing()
    if name in EXPLANATIONS:
        return f"{name} (not a formula)\n  {EXPLANATIONS[name]}"
    entry = find(name)
    section = next(title for title, entries in SECTIONS.items() if entry in entries)
    lines = [f"{entry.name} ({entry.verdict}, {section})", f"  written:  {entry.wrote}",
             f"  right:    {RIGHT[entry.stage]}", f"  {entry.why}"]
    lines += [f"  {entry.repair_label}  {entry.repair}"] if entry.repair else []
    lines += [f"  seen in:  {entry.seen_in}"] if entry.seen_in else []
    return "\n".join(lines)


def listing():
    """All names, by section."""
    lines = []
    for title, entries in SECTIONS.items():
        lines += [title, *(f"  {entry.name:<32} {entry.wrote}" for entry in entries)]
    lines += ["Not formulas", *(f"  {name:<32} {text}" for name, text in EXPLANATIONS.items())]
    return "\n".join(lines)
