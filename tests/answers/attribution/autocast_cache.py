# SPDX-License-Identifier: Apache-2.0
"""The content of autocast's cache of casts: the blocks that are freed when it is cleared.

Nothing else is freed then, and there is no other way to look into it. Casts that autograd keeps as
well live on; they are found in its graph.
"""

import torch


def _allocated() -> set[int]:
    return {block["address"] for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]
            if block["state"] == "active_allocated"}


def watch_autocast_cache(tell) -> None:
    """`tell` gets the address of each block, right after it was freed."""
    clear = torch.clear_autocast_cache

    def clear_and_tell():
        before = _allocated()
        clear()
        for address in before - _allocated():
            tell(address, "activations", "autocast copy")

    torch.clear_autocast_cache = clear_and_tell
