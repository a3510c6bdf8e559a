# SPDX-License-Identifier: Apache-2.0
"""Where a program tells what nobody can find by looking: that tensors are inputs (batches, labels,
noise) or communication buckets. Nobody may be listening."""

listener = None


def inputs(*tensors, name: str = "batch"):
    """The tensors as they came."""
    if listener is not None:
        for tensor in tensors:
            listener(tensor, "inputs", name)
    return tensors[0] if len(tensors) == 1 else tensors


def bucket(tensor, role: str = "gradients"):
    """The tensor as it came: gradients, or weights, on their way between ranks."""
    if listener is not None:
        listener(tensor, role, "communication bucket")
    return tensor
