# SPDX-License-Identifier: Apache-2.0
"""As many threads as the argument says allocate at the same time; what they did is counted."""

import sys
import threading

import torch

count = int(sys.argv[1])
torch.cuda.init()
start = threading.Barrier(count)


def works(number):
    start.wait()
    for size in range(20):
        torch.empty(1024 * (1 + size), device="cuda")


threads = [threading.Thread(target=works, args=(number,)) for number in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
stats = torch.cuda.memory_stats()
print(stats["allocation.all.allocated"], stats["allocation.all.freed"],
      stats["allocated_bytes.all.current"])
