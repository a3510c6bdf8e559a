# SPDX-License-Identifier: Apache-2.0
"""Everything of the Python package, on a GPU; prints the addresses that it annotated."""
import threading

import torch

import memtrace


@memtrace.phase("decorated ü")
def decorated():
    return torch.ones(3000, device="cuda")


print("active", memtrace.is_active())
with memtrace.phase("before the GPU"):
    with memtrace.phase("inner"):
        kept = torch.zeros(4, 1000, device="cuda")
memtrace.annotate(kept[1:], "a cache", "keys")
memtrace.annotate(torch.zeros(10), "on the CPU")
memtrace.annotate(torch.zeros(10, device="meta"), "nowhere")
block = decorated()
memtrace.annotate(block.data_ptr(), "weights")
print("annotated", kept.data_ptr(), block.data_ptr())


def elsewhere():
    with memtrace.phase("another thread"):
        torch.ones(5, device="cuda")


thread = threading.Thread(target=elsewhere)
with memtrace.phase("meanwhile"):
    thread.start()
    thread.join()
try:
    with memtrace.phase("raises"):
        raise KeyError("caught")
except KeyError as error:
    print(error)
memtrace.step()
memtrace.step("named")
memtrace.counter("loss", 0.25)
memtrace.counter("loss", torch.ones(1))
