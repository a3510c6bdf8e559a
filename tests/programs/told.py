# SPDX-License-Identifier: Apache-2.0
"""Where a program tells what nobody can find by looking: that tensors are inputs (batches, labels,
noise), communication buckets, states of an optimizer that PyTorch does not know, or a cache of keys
and values. Nobody may be listening."""

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


def states(*tensors, name: str = "state"):
    """The tensors as they came: what an optimizer of the program's own keeps from step to step."""
    if listener is not None:
        for tensor in tensors:
            listener(tensor, "optimizer_states", name)
    return tensors[0] if len(tensors) == 1 else tensors


def kv_cache(*tensors, name: str = "keys and values"):
    """The tensors as they came: a cache of the program's own."""
    if listener is not None:
        for tensor in tensors:
            listener(tensor, "kv_cache", name)
    return tensors[0] if len(tensors) == 1 else tensors


def gradients(*tensors, name: str = "gradient"):
    """The tensors as they came: gradients that are nobody's .grad."""
    if listener is not None:
        for tensor in tensors:
            listener(tensor, "gradients", name)
    return tensors[0] if len(tensors) == 1 else tensors
