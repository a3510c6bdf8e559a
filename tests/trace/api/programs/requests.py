# SPDX-License-Identifier: Apache-2.0
"""A server whose requests name their keys and values; prints what each holds at the peak."""
import json

import torch

import memtrace

MODEL = torch.zeros(1000, 1000, device="cuda")
held: dict[str, list[torch.Tensor]] = {}


def read_token(request: str, layer: int, length: int) -> None:
    """The cache grows by concatenation: what is made anew is named anew."""
    keys = torch.zeros(length, 16, 64, device="cuda")
    memtrace.annotate(keys, "kv_cache", request)
    tensors = held.setdefault(request, [])
    tensors[layer:layer + 1] = [keys]


for length in range(100, 104):
    for layer in range(2):
        read_token("request 7", layer, length)
for layer in range(3):
    read_token("request 8 <b>", layer, 500)
table = torch.zeros(12345, device="cuda")
memtrace.annotate(table, "weights", "lookup")
top = torch.zeros(5_000_000, device="cuda")  # the peak is here

blocks = {block["address"]: block["size"] for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]
          if block["state"] == "active_allocated"}
print(json.dumps({name: [len(tensors), sum(blocks[one.data_ptr()] for one in tensors)]
                  for name, tensors in {**held, "lookup": [table]}.items()}))
