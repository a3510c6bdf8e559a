# SPDX-License-Identifier: Apache-2.0
"""A training with an evaluation of 20 batches after each epoch, whose answers are joined and dropped."""

import torch

model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(6):
    for _ in range(10):
        batch = torch.randn(256, 512, device="cuda")
        loss = (model(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        answers = torch.cat([model(torch.randn(256, 512, device="cuda")) for _ in range(20)])  # gathers
    model.train()
