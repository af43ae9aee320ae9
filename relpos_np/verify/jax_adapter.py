"""A JAX function as a candidate of NumPy arrays, with gradients by JAX's autodiff."""

import numpy as np

from relpos_np.verify.tensors import first_output, like_with_upstream, on_arrays


def candidate_and_grads(function):
    """The forward on arrays, and the gradients of ``sum(grad_output * output)``."""
    import jax

    def grads(grad_output, *arrays, **keywords):
        with jax.enable_x64(True):
            floats = [a is not None and a.dtype.kind == "f" for a in arrays]
            leaves = [jax.numpy.asarray(a) for a, is_float in zip(arrays, floats, strict=True)
                      if is_float]
            _, named = on_arrays(jax.numpy.asarray, (), keywords)

            def output(*leaves):
                given = iter(leaves)
                return first_output(function(*(
                    next(given) if is_float else a
                    for a, is_float in zip(arrays, floats, strict=True)), **named))

            _, pull_back = jax.vjp(output, *leaves)
            found = iter(pull_back(jax.numpy.asarray(grad_output)))
            return tuple(None if a is None else np.asarray(next(found))
                         for a, is_float in zip(arrays, floats, strict=True)
                         if is_float or a is None)

    def forward(*arrays, **keywords):
        with jax.enable_x64(True):
            arguments, named = on_arrays(jax.numpy.asarray, arrays, keywords)
            return np.asarray(first_output(function(*arguments, **named)))

    return like_with_upstream(function, forward, grads)
