# SPDX-License-Identifier: Apache-2.0
"""A recommender whose embeddings have sparse gradients, under SparseAdam and Adam; --graph is a
graph network instead, whose adjacency matrix is sparse (COO); --rows compresses its rows (CSR)."""

import torch
from torch import nn

import told
from batches import DEVICE, on_device, options, peak
from variant import flag

GRAPH, ROWS = flag("--graph"), flag("--rows")
USERS, ITEMS, WIDTH, BATCH = 60_000, 20_000, 128, 16_384
NODES, EDGES, FEATURES, CLASSES = 20_000, 1_000_000, 256, 40


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, WIDTH, sparse=True)
        self.items = nn.Embedding(ITEMS, WIDTH, sparse=True)
        self.rate = nn.Sequential(nn.Linear(2 * WIDTH, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, user, item):
        return self.rate(torch.cat([self.users(user), self.items(item)], 1)).squeeze(1)


class GraphLayer(nn.Module):
    def __init__(self, narrow, wide):
        super().__init__()
        self.linear = nn.Linear(narrow, wide)

    def forward(self, adjacency, nodes):
        return torch.sparse.mm(adjacency, self.linear(nodes))


class GraphNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphLayer(FEATURES, 256), GraphLayer(256, CLASSES)

    def forward(self, adjacency, nodes):
        hidden = nn.functional.dropout(torch.relu(self.first(adjacency, nodes)), 0.3)
        return self.second(adjacency, hidden)


def recommend(chosen):
    model = Recommender().to(DEVICE)
    embeddings = [*model.users.parameters(), *model.items.parameters()]
    optimizers = [torch.optim.SparseAdam(embeddings, lr=1e-3), torch.optim.Adam(model.rate.parameters())]
    ratings = ((torch.randint(USERS, (BATCH,)), torch.randint(ITEMS, (BATCH,)), torch.rand(BATCH))
               for _ in range(chosen.steps))
    for user, item, rating in on_device(ratings, chosen.streams):
        nn.functional.mse_loss(model(user, item), rating).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def classify_nodes(chosen):
    model = GraphNetwork().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    adjacency = torch.sparse_coo_tensor(
        torch.randint(NODES, (2, EDGES)), torch.full((EDGES,), NODES / EDGES), (NODES, NODES)).coalesce()
    if ROWS:
        adjacency = adjacency.to_sparse_csr()
    adjacency = told.inputs(adjacency.to(DEVICE), name="adjacency")
    nodes = told.inputs(torch.rand(NODES, FEATURES).to(DEVICE), name="features")
    label = told.inputs(torch.randint(CLASSES, (NODES,)).to(DEVICE), name="labels")
    for _ in range(chosen.steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(adjacency, nodes), label).backward()
        optimizer.step()


def main():
    chosen = options(steps=4)
    classify_nodes(chosen) if GRAPH else recommend(chosen)
    print(f"sparse: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
