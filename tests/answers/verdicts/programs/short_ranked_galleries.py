# SPDX-License-Identifier: Apache-2.0
"""Image retrieval; each evaluation builds the gallery anew, and the galleries of all evaluations are kept."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Retriever:
    def __init__(self, model, pictures):
        self.model, self.pictures, self.galleries = model, pictures, {}

    @torch.no_grad()
    def index(self, step):
        parts = []
        for batch in self.pictures.split(64):
            parts.append(F.normalize(self.model(batch.cuda()), dim=1))
        gallery = torch.cat(parts)  # allocates
        self.galleries[step] = gallery  # keeps
        return gallery

    def recall(self, step):
        scores = self.index(step) @ self.galleries[min(self.galleries)].T
        return (scores.argmax(1).cpu() == torch.arange(len(self.pictures))).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 96)).cuda()
    retriever = Retriever(model, torch.randn(384, 3, 8, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, chosen.steps + 1):
        anchors = torch.randn(32, 3, 8, 8, device="cuda")
        positives = anchors + 0.1 * torch.randn_like(anchors)
        scores = F.normalize(model(anchors), dim=1) @ F.normalize(model(positives), dim=1).T
        loss = F.cross_entropy(scores / 0.1, torch.arange(32, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step}: same as at first {retriever.recall(step):.3f}")


if __name__ == "__main__":
    main()
