# SPDX-License-Identifier: Apache-2.0
"""Code that torch.compile wrote: frames of generated files, and of eager code after graph breaks."""
import torch

DEVICE = "cuda"


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(64, 256)
        self.out = torch.nn.Linear(256, 64)

    def forward(self, value):
        inner = torch.nn.functional.gelu(self.into(value))
        torch._dynamo.graph_break()
        return self.out(inner) + torch.ones(1, device=value.device)


def main():
    model = torch.compile(Block().to(DEVICE), backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for size in (8, 8, 16, 24, 16, 8):
        model(torch.rand(size, 64, device=DEVICE)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
