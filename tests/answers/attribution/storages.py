# SPDX-License-Identifier: Apache-2.0
"""Where a tensor's memory begins: also of tensors that have none themselves but are made of others,
as DTensor, quantised weights, nested and sparse tensors are."""

import torch

DEPTH = 4  # wrappers within wrappers
COMPRESSED = {torch.sparse_csr: ("crow_indices", "col_indices"), torch.sparse_bsr: ("crow_indices", "col_indices"),
              torch.sparse_csc: ("ccol_indices", "row_indices"), torch.sparse_bsc: ("ccol_indices", "row_indices")}


def _parts(tensor):
    """The tensors that this one is made of; nothing for an ordinary one."""
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in COMPRESSED:
        return [*(getattr(tensor, name)() for name in COMPRESSED[tensor.layout]), tensor.values()]
    if type(tensor) in (torch.Tensor, torch.nn.Parameter):
        return []
    names = []
    if hasattr(type(tensor), "__tensor_flatten__"):
        names = tensor.__tensor_flatten__()[0]
    held = [getattr(tensor, name) for name in names] or list(getattr(tensor, "__dict__", {}).values())
    return [one for one in held if isinstance(one, torch.Tensor) and one is not tensor]


def storage_addresses(tensor, depth: int = DEPTH):
    """The address of each storage that the tensor lives in, on a GPU."""
    if tensor.device.type != "cuda":
        return
    try:
        own = tensor.untyped_storage().data_ptr() if tensor.layout in (torch.strided, torch.jagged) else 0
    except (RuntimeError, NotImplementedError):  # fake, functional, without a storage
        own = 0
    if own:
        yield own
    elif depth:
        for part in _parts(tensor):
            yield from storage_addresses(part, depth - 1)


def storage_address(tensor) -> int:
    """The first of these addresses; 0: none is on a GPU."""
    return next(storage_addresses(tensor), 0)
