# SPDX-License-Identifier: Apache-2.0
"""Trains a convolutional autoencoder on digits; a callback reports the mean loss of an epoch."""

import argparse

import torch
from torch import nn

BATCHES = 30


class AutoEncoder(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.training_step_outputs = []
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 7 * 7, latent))
        self.decoder = nn.Sequential(
            nn.Linear(latent, 32 * 7 * 7), nn.Unflatten(1, (32, 7, 7)),
            nn.ConvTranspose2d(32, 16, 3, 2, 1, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 3, 2, 1, 1), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, x):
        loss = nn.functional.mse_loss(self(x), x)  # fills
        self.training_step_outputs.append(loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class LossCallback:
    def on_train_epoch_end(self, trainer, module):
        epoch_mean = torch.stack(module.training_step_outputs).mean()
        trainer.log("training_epoch_mean", epoch_mean)
        module.training_step_outputs.clear()


class Trainer:
    def __init__(self, max_steps, callbacks):
        self.max_steps, self.callbacks = max_steps, callbacks
        self.logged = {}

    def log(self, name, value):
        self.logged.setdefault(name, []).append(value.item())

    def run_batch(self, module, optimizer):
        loss = module.training_step(torch.rand(16, 1, 28, 28, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def fit(self, module):
        optimizer = module.configure_optimizers()
        for step in range(self.max_steps):
            ends = (step + 1) % BATCHES == 0  # step
            self.run_batch(module, optimizer)
            if ends:
                for callback in self.callbacks:
                    callback.on_train_epoch_end(self, module)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    trainer = Trainer(chosen.steps, [LossCallback()])
    trainer.fit(AutoEncoder().cuda())
    print(f"{chosen.steps} batches, by epoch {trainer.logged}")


if __name__ == "__main__":
    main()
