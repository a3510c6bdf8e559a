# SPDX-License-Identifier: Apache-2.0
"""Graph attention on one graph of citations; after every epoch it prints the edges that were attended to most."""

import argparse

import torch
from torch import nn
from torch.nn import functional

NODES, EDGES, HEADS, CLASSES = 512, 4096, 4, 7
STEPS_OF_EPOCH = 5


class EdgeScores(nn.Module):
    """Attention of each head along each edge, from what its two ends are."""

    def __init__(self, width):
        super().__init__()
        self.of_source = nn.Parameter(0.1 * torch.randn(HEADS, width))
        self.of_target = nn.Parameter(0.1 * torch.randn(HEADS, width))

    def forward(self, nodes, source, target):
        raw = (nodes * self.of_source).sum(-1)[source] + (nodes * self.of_target).sum(-1)[target]
        weights = functional.leaky_relu(raw, 0.2).clamp(max=10).exp()
        total = torch.zeros(NODES, HEADS, device=nodes.device).index_add(0, target, weights)
        return weights / (total[target] + 1e-9)


class GraphAttention(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.width = width
        self.transform = nn.Linear(features, HEADS * width, bias=False)
        self.scores = EdgeScores(width)

    def forward(self, features, source, target):
        nodes = self.transform(features).view(NODES, HEADS, self.width)
        messages = self.scores(nodes, source, target)[..., None] * nodes[source]
        return torch.zeros_like(nodes).index_add(0, target, messages).flatten(1)


class Classifier(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.attention = GraphAttention(features, 8)
        self.head = nn.Linear(8 * HEADS, CLASSES)

    def forward(self, features, source, target):
        return self.head(functional.elu(self.attention(features, source, target)))


class AttentionReport:
    def __init__(self, model):
        self.total = torch.zeros(EDGES, HEADS, device="cuda")  # allocates
        self.seen = 0
        model.attention.scores.register_forward_hook(self.add)  # keeps

    def add(self, module, inputs, output):
        self.total += output.detach()
        self.seen += 1

    def heaviest(self, count):
        return (self.total / self.seen).mean(1).topk(count).indices.tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    features = torch.randn(NODES, 24, device="cuda")
    labels = torch.randint(CLASSES, (NODES,), device="cuda")
    source, target = torch.randint(NODES, (2, EDGES), device="cuda")
    model = Classifier(24).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
    report = None
    for step in range(chosen.steps):
        optimizer.zero_grad()  # step
        if step % STEPS_OF_EPOCH == 0:
            report = AttentionReport(model)
        kept = torch.rand(NODES, device="cuda").lt(0.8).float()[:, None]
        losses = functional.cross_entropy(model(features * kept, source, target), labels, reduction="none")
        losses.mean().backward()
        optimizer.step()
        if step % STEPS_OF_EPOCH == STEPS_OF_EPOCH - 1:
            print(f"epoch {step // STEPS_OF_EPOCH}: edges {report.heaviest(3)}")


if __name__ == "__main__":
    main()
