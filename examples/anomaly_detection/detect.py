# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection: an autoencoder learns what normal images look like to a frozen network, and is
adapted to a domain. With --mode collect every embedding is collected before any is learned from;
with --mode stream each batch is learned from as it comes."""

import argparse

import torch
from torch.utils.data import DataLoader, Dataset

from autoencoder import TrajectoryVAE
from extractor import Extractor, stack_trajectory
from trainer import ModelTrainer


class Images(Dataset):
    """A few images, over and over."""

    def __init__(self, count, side=64):
        self.count = count
        self.images = torch.rand(8, 3, side, side)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.images[index % len(self.images)], 0


@torch.no_grad()
def extract_embeddings(extractor, imgs):
    return stack_trajectory(extractor(imgs.cuda(non_blocking=True)))


def collect_train(dataloader, extractor):
    train_embeddings = []
    for number, (imgs, _) in enumerate(dataloader):
        print(f"batch {number}", flush=True)
        embeddings_batch = extract_embeddings(extractor, imgs)
        for b in range(embeddings_batch.shape[0]):
            train_embeddings.append(embeddings_batch[b])  # keeps
    return train_embeddings


def collect_domain(dataloader, extractor):
    domain_embeddings = []
    for number, (imgs, _) in enumerate(dataloader):
        print(f"batch {number}", flush=True)
        embeddings = extract_embeddings(extractor, imgs)
        domain_embeddings.extend(embeddings)  # keeps
    return domain_embeddings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["collect", "stream"], default="collect")
    parser.add_argument("--phases", nargs="+", choices=["train", "adapt"], default=["train", "adapt"])
    parser.add_argument("--images", type=int, default=4000)
    parser.add_argument("--batch-size", type=int, default=32)
    chosen = parser.parse_args()
    torch.manual_seed(0)

    loader = DataLoader(Images(chosen.images), batch_size=chosen.batch_size)
    extractor = Extractor().cuda().eval()
    trainer = ModelTrainer(TrajectoryVAE().cuda())
    if chosen.mode == "stream":
        if "train" in chosen.phases:
            trainer.train_streaming(loader, extractor)
        if "adapt" in chosen.phases:
            trainer.adapt_with_lora_streaming(loader, extractor)
        return
    if "train" in chosen.phases:
        trainer.train(collect_train(loader, extractor))
    if "adapt" in chosen.phases:
        trainer.adapt_with_lora(collect_domain(loader, extractor))


if __name__ == "__main__":
    main()
