# SPDX-License-Identifier: Apache-2.0
"""One pass of a video classifier over its validation clips; the mean average precision is taken at the end."""

import argparse

import torch
from torch import nn

CLASSES, FRAMES, CLIPS = 400, 4, 8


class VideoNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projection = nn.Linear(width, CLASSES)

    def forward(self, clips):
        features = self.stem(clips.flatten(0, 1)).view(len(clips), FRAMES, -1).mean(1)
        scores = self.projection(features)
        if not self.training:
            scores = torch.softmax(scores, -1)  # allocates
        return scores


class ValMeter:
    """Gathers what the figures of an epoch are computed from."""

    def __init__(self, iterations):
        self.iterations = iterations
        self.reset()

    def reset(self):
        self.all_preds, self.all_labels = [], []

    def update_predictions(self, preds, labels):
        self.all_preds.append(preds)  # keeps
        self.all_labels.append(labels)  # keeps

    def log_epoch_stats(self, epoch):
        preds = torch.cat([one.cpu() for one in self.all_preds])
        labels = torch.cat([one.cpu() for one in self.all_labels])
        right = (preds.argmax(1) == labels).float().mean().item()
        print(f"epoch {epoch}: {len(labels)} clips in {self.iterations} batches, {right:.3f} right")


@torch.no_grad()
def eval_epoch(loader, model, meter, epoch):
    model.eval()
    for clips, labels in loader:
        clips = clips.cuda(non_blocking=True)  # step
        labels = labels.cuda(non_blocking=True)  # allocates
        preds = model(clips)
        meter.update_predictions(preds, labels)
    meter.log_epoch_stats(epoch)
    meter.reset()


def validation_clips(count):
    for _ in range(count):
        yield torch.rand(CLIPS, FRAMES, 3, 24, 24), torch.randint(CLASSES, (CLIPS,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = VideoNet().cuda()
    eval_epoch(validation_clips(chosen.steps), model, ValMeter(chosen.steps), epoch=0)


if __name__ == "__main__":
    main()
