# SPDX-License-Identifier: Apache-2.0
"""A training with PyTorch on all devices, first with segments of fixed size, then with such that
expand; under cudaMallocAsync, which has none, twice the same."""

import torch

MIB = 1 << 20


def train(device: int, width: int) -> None:
    with torch.cuda.device(device):
        model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(),
                                    torch.nn.Linear(width, 8)).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(64, width, device="cuda")).sum().backward()
            optimizer.step()


for index in range(torch.cuda.device_count()):
    train(index, 1024 * (index + 1))
if torch.cuda.get_allocator_backend() == "native":
    torch.cuda.memory.empty_cache()
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")
for index in range(torch.cuda.device_count()):
    train(index, 2048)
    free, total = torch.cuda.mem_get_info(index)
    print(total - free)
