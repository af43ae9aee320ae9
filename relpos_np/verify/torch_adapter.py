"""A torch function as a candidate of NumPy arrays, with gradients by torch's autograd."""

from relpos_np.verify.tensors import first_output, like_with_upstream, on_arrays


def candidate_and_grads(function):
    """The forward on arrays, and the gradients of ``sum(grad_output * output)``."""
    import torch

    def grads(grad_output, *arrays, **keywords):
        leaves = []

        def leaf(array):
            tensor = torch.from_numpy(array.copy())
            if tensor.is_floating_point():
                leaves.append(tensor.requires_grad_())
            return tensor

        arguments, named = on_arrays(leaf, arrays, keywords)
        output = first_output(function(*arguments, **named))
        found = iter(torch.autograd.grad(
            output, leaves, torch.from_numpy(grad_output.copy()), allow_unused=True))
        # An input that the output does not depend on has gradient zero (a table that is a
        # constant to torch, say), which is then judged like any other.
        return tuple(None if array is None else zeros_or(next(found), array)
                     for array in arrays if array is None or array.dtype.kind == "f")

    def forward(*arrays, **keywords):
        arguments, named = on_arrays(lambda a: torch.from_numpy(a.copy()), arrays, keywords)
        with torch.no_grad():
            return first_output(function(*arguments, **named)).numpy()

    return like_with_upstream(function, forward, grads)


def zeros_or(grad, array):
    return array * 0 if grad is None else grad.numpy()
