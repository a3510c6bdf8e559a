# SPDX-License-Identifier: Apache-2.0
"""Tensors and operators that dry-run --routing does not follow: each part says that it ran."""
import copy

import torch
from torch.nn.attention.flex_attention import flex_attention

words = torch.nn.Embedding(100, 8, sparse=True).cuda()
words(torch.tensor([1, 2, 2], device="cuda")).sum().backward()
torch.optim.SparseAdam(words.parameters()).step()
print("sparse")

torch.cond(torch.tensor(True, device="cuda"), lambda x: x + 1, lambda x: x - 1, (torch.ones(3, device="cuda"),))
print("cond")

q = torch.randn(1, 2, 128, 16, device="cuda")
flex_attention(q, q, q)
print("flex")

with torch.device("cuda"):
    chosen = torch.arange(6) % 3
    assert chosen.tolist() == [0, 1, 2, 0, 1, 2]
print("device")

torch.compile(lambda x: (x * 2).relu(), backend="aot_eager")(torch.ones(3, device="cuda"))
print("compiled")

numbers = torch.arange(8, device="cuda")
numbers.record_stream(torch.cuda.Stream())
assert int(numbers.sum()) == 28
print("stream")

module = torch.nn.Module()
module.register_buffer("seven", torch.tensor([7], device="cuda"))
print("copied", copy.deepcopy(module).seven.item())

numbers.untyped_storage().resize_(0)
numbers.untyped_storage().resize_(64)
numbers.tolist()
numbers.resize_(20)
numbers.tolist()
print("resized")
