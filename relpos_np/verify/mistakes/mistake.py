"""What the catalogue says about one known mistake."""

from typing import NamedTuple

# What a mistake means for someone who has made it.
CONVENTION = "CONVENTION"  # a permutation of parameters makes the outputs identical
RESCALE = "RESCALE"  # a fixed factor on a parameter makes them identical
MISTAKE = "MISTAKE"  # another function
CORRECT = "CORRECT"  # looks like a mistake, computes the right thing


class Mistake(NamedTuple):
    """A change of one step of the reference formula, and what there is to say about it."""

    name: str
    change: dict  # step name -> the step as it was written wrongly, a function of x
    verdict: str
    wrote: str  # the formula with the mistake in it
    why: str  # what goes wrong, and when nobody notices
    # CONVENTION, RESCALE: a code line after which the right formula gives the same outputs;
    # MISTAKE: how to mend the code, if there is a short way to say it.
    repair: str = ""
    seen_in: str = ""  # public software that had it

    @property
    def repair_label(self):
        """What the repair is, for a report."""
        return "mend:   " if self.verdict == MISTAKE else "convert:"

    @property
    def stage(self):
        """The first step that comes out wrong."""
        return next(iter(self.change))
