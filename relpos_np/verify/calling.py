"""A candidate that does not say how it wants to be called, made to say so."""

import functools
import inspect
import re

from relpos_np.verify import frameworks
from relpos_np.verify.candidate import MASK_NAMES, load_candidate, parameters_of
from relpos_np.verify.cases import load_cases
from relpos_np.verify.one_line import one_line
from relpos_np.verify.run import observed

Parameter = inspect.Parameter
# What an exception says if the arguments were too many, too few, or of unknown names.
REFUSED_WAY = re.compile(
    "positional argument|keyword argument|values for argument|to unpack|tuple index out of range")


def callable_as(candidate, grads=None, *, framework=None, layer=False, dtype, time_limit):
    """Candidate and gradient function as functions of arrays that tell what they take.

    Parameters
    ----------
    candidate, grads, framework, layer, dtype, time_limit
        As for `verify`; grads may be None.

    Returns
    -------
    callable, callable or None
    """
    candidate, grads = (
        load_candidate(function) if isinstance(function, str) else function
        for function in (candidate, grads)
    )
    case = next(case for case in load_cases()
                if case.mask is not None and bool(case.num_heads) == layer)
    candidate = in_order(candidate, case.inputs)
    grads = grads and in_order(grads, case.inputs, upstream=True)
    if framework:
        candidate, grads = frameworks.adapt(candidate, grads, framework)
    candidate = with_known_parameters(candidate, case, dtype, time_limit)
    grads = grads and with_known_parameters(grads, case, dtype, time_limit,
                                            grad_output=case.grad_output)
    return candidate, grads


def in_order(function, inputs, upstream=False):
    """The function with its parameters in the order of the inputs, if it has all their names.

    Only a function whose own order is another one, or that takes them by keyword only, is
    wrapped; `upstream` says that it is a gradient function, which takes one array more.

    Examples
    --------
    >>> in_order(lambda *, key, query: (query, key), ("query", "key"))(1, 2)
    (1, 2)
    """
    parameters = {p.name: p for p in parameters_of(function) or ()}
    named = {name for name, p in parameters.items() if p.kind != Parameter.POSITIONAL_ONLY}
    names = (("grad_output",) if upstream and "grad_output" in named else ()) + tuple(inputs)
    first = [name for name, p in parameters.items()
             if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    before = 1 if upstream and len(names) == len(inputs) else 0
    if not named.issuperset(names) or tuple(first[before : before + len(names)]) == names:
        return function
    others = [p for name, p in parameters.items() if name not in names]
    told = (*(p.name for p in others[:before]), *names)
    options = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in others[before:]
               if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]

    def ordered(*arrays, **keywords):
        keywords |= dict(zip(names, arrays[before:], strict=True))
        return function(*arrays[:before], **keywords)

    return with_parameters(ordered, function, [
        *(Parameter(name, Parameter.POSITIONAL_ONLY) for name in told), *options])


def with_known_parameters(function, case, dtype, time_limit, **first):
    """The function with a signature that tells what it takes, found by trying if need be.

    ``**options`` may or may not take `query_start` and the mask: the first way to call it that
    it does not refuse is the one to keep. If there is none, the function is left as it is.

    Parameters
    ----------
    function : callable
    case : Case
        To try it on; with a mask.
    dtype : dtype of the inputs
    time_limit : float
    first
        What comes before the inputs: the upstream gradient for a backward.
    """
    parameters = parameters_of(function)
    if not any(p.kind == Parameter.VAR_KEYWORD for p in parameters or ()):
        return function
    for told in ways(parameters, len(first) + len(case.inputs), bool(case.num_heads)):
        asked = with_parameters(functools.partial(function), function, told)
        try:
            answer, *_ = observed(asked, case, dtype, time_limit, **first)
        except Exception as error:
            if REFUSED_WAY.search(one_line(error)):
                continue
        else:
            getattr(answer, "close", bool)()  # a coroutine complains if nobody awaits it
        return asked
    return function


def ways(parameters, count, layer):
    """Lists of parameters that the function may have, the likeliest first."""
    known = [p for p in parameters
             if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    option = "num_heads" if layer else "query_start"
    options = [[Parameter(option, Parameter.KEYWORD_ONLY)], []]
    if len(known) == len(parameters) - 1:  # what it takes by position it names
        yield from ([*known, *more] for more in options if option not in {p.name for p in known})
        return
    arrays = [Parameter(f"array_{n}", Parameter.POSITIONAL_ONLY) for n in range(count)]
    masks = [[Parameter(name, Parameter.KEYWORD_ONLY)] for name in MASK_NAMES]
    for mask in (*masks, [Parameter("mask", Parameter.POSITIONAL_ONLY)], []):
        for more in options:
            yield [*arrays, *mask, *more]


def with_parameters(function, original, parameters):
    """`function` under the name of `original`, with a signature of these parameters."""
    functools.update_wrapper(function, original, updated=())
    function.__signature__ = inspect.Signature(parameters)
    return function
