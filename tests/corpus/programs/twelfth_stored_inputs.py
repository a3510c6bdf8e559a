# SPDX-License-Identifier: Apache-2.0
"""Predicts a test set with a trained classifier of images and hands back what was predicted, decoded if asked for."""

import argparse

import torch
from torch import nn


class Loaders:
    """Batches of a test set, of n_inp inputs and a target each."""

    n_inp = 1

    def __init__(self, batches, size=8):
        self.batches, self.size = batches, size

    def __iter__(self):
        for _ in range(self.batches):
            images = torch.rand(self.size, 3, 32, 32).cuda()  # allocates
            yield images, torch.zeros(self.size, dtype=torch.long)


def classifier():
    return nn.Sequential(nn.Conv2d(3, 12, 3, stride=2), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)).cuda().eval()


def get_preds(model, dls, fully_decoded=False):
    inps, outs, targets = [], [], []
    is_multi = dls.n_inp > 1
    with torch.no_grad():
        for batch in dls:
            count = dls.n_inp  # step
            if is_multi:
                inps.extend(batch[:count])
            else:
                inps.append(batch[0])  # keeps
            outs.append(model(*batch[:count]).softmax(1).cpu())
            targets.append(batch[count])
    result = {"probs": torch.cat(outs), "targets": torch.cat(targets)}
    if fully_decoded:
        result["inputs"] = torch.cat(inps).cpu()
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50, help="batches of the test set")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    preds = get_preds(classifier(), Loaders(chosen.steps))
    print("predicted", tuple(preds["probs"].shape), "of", len(preds["targets"]))


if __name__ == "__main__":
    main()
