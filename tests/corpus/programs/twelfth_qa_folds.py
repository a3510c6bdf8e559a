# SPDX-License-Identifier: Apache-2.0
"""Cross-validates a model that answers questions: every fold trains a new one and evaluates it on the part left out."""

import argparse

import torch
from torch import nn
from torch.nn import functional

WORDS, LENGTH, BATCH, EVALUATED = 512, 64, 16, 3


class SpanModel(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.encoder = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.span = nn.Linear(width, 2)

    def forward(self, ids):
        return self.span(self.encoder(self.words(ids)))  # allocates


def batches(count):
    for _ in range(count):
        ids = torch.randint(WORDS, (BATCH, LENGTH)).cuda()
        labels = torch.randint(LENGTH, (BATCH, 2)).cuda()  # allocates
        yield ids, labels


def train(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for ids, labels in batches(2):
        optimizer.zero_grad()
        starts, ends = model(ids).unbind(-1)
        loss = functional.cross_entropy(starts, labels[:, 0]) + functional.cross_entropy(ends, labels[:, 1])
        loss.backward()
        optimizer.step()


class Evaluator:
    def evaluate(self, model):
        preds_all, label_all = [], []
        model.eval()
        with torch.no_grad():
            for ids, labels in batches(EVALUATED):
                preds_all.append(model(ids))
                label_all.append(labels)
        return {"task": "question_answering", "preds": preds_all, "labels": label_all}


def run_fold():
    model = SpanModel().cuda()
    train(model)
    return Evaluator().evaluate(model)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14, help="folds")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    all_results = []
    for fold in range(chosen.steps):
        number = fold + 1  # step
        result = run_fold()
        all_results.append(result)  # keeps
        print(f"fold {number}: {len(result['preds'])} batches evaluated")
    print(f"{len(all_results)} folds")


if __name__ == "__main__":
    main()
