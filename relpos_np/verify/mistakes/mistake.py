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
    repair: str = ""  # the code line, or the factor, that makes up for it
    seen_in: str = ""  # public software that had it

    @property
    def stage(self):
        """The first step that comes out wrong."""
        return next(iter(self.change))
