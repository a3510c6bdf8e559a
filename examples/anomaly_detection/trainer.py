# SPDX-License-Identifier: Apache-2.0
"""Training and adaptation, each in two ways: on embeddings that were collected, and batch by batch."""

import torch

from autoencoder import apply_lora_to_model, compute_loss
from extractor import stack_trajectory


class ModelTrainer:
    def __init__(self, model, device="cuda"):
        self.model = model
        self.device = device
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def fit(self, optimizer, trajectories):
        reconstruction, mu, logvar = self.model(trajectories)
        loss = compute_loss(reconstruction, trajectories, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss)

    def train_on_batch(self, embeddings_batch):
        return self.fit(self.optimizer, embeddings_batch.flatten(0, 1))

    def fit_collected(self, optimizer, embeddings, num_epochs, batch_size=8):
        embeddings = torch.stack(embeddings)
        for _ in range(num_epochs):
            for chosen in torch.randperm(len(embeddings)).split(batch_size):
                self.fit(optimizer, embeddings[chosen.to(self.device)].flatten(0, 1))

    def train(self, embeddings, num_epochs=1):
        self.fit_collected(self.optimizer, embeddings, num_epochs)

    def adapt_with_lora(self, embeddings, num_epochs=1):
        self.model, lora_params = apply_lora_to_model(self.model)
        self.fit_collected(torch.optim.Adam(lora_params, lr=1e-3), embeddings, num_epochs)

    def train_streaming(self, dataloader, extractor, num_epochs=1):
        for _ in range(num_epochs):
            for imgs, _ in dataloader:
                imgs_gpu = imgs.to(self.device, non_blocking=True)
                with torch.no_grad():
                    activations = extractor(imgs_gpu)
                    embeddings_batch = stack_trajectory(activations)
                self.train_on_batch(embeddings_batch)
                del imgs_gpu, activations, embeddings_batch
                torch.cuda.empty_cache()

    def adapt_with_lora_streaming(self, dataloader, extractor, num_epochs=1):
        self.model, lora_params = apply_lora_to_model(self.model)
        lora_optimizer = torch.optim.Adam(lora_params, lr=1e-3)
        for _ in range(num_epochs):
            for imgs, _ in dataloader:
                imgs_gpu = imgs.to(self.device, non_blocking=True)
                with torch.no_grad():
                    activations = extractor(imgs_gpu)
                    embeddings_batch = stack_trajectory(activations)
                trajectories = embeddings_batch.flatten(0, 1)
                reconstruction, mu, logvar = self.model(trajectories)
                loss = compute_loss(reconstruction, trajectories, mu, logvar)
                lora_optimizer.zero_grad()
                loss.backward()
                lora_optimizer.step()
                del imgs_gpu, activations, embeddings_batch, trajectories
                del reconstruction, loss, mu, logvar
                torch.cuda.empty_cache()
