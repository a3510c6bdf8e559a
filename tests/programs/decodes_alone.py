# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder whose decoder is called by itself after each epoch, outside of the model's forward."""

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 400)
        self.fc21 = nn.Linear(400, 20)
        self.fc22 = nn.Linear(400, 20)
        self.fc3 = nn.Linear(20, 400)
        self.fc4 = nn.Linear(400, 784)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 784))
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


model = VAE().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    for _ in range(8):
        data = torch.rand(128, 784).cuda()
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = F.mse_loss(recon, data) + mu.square().mean()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        sample = model.decode(torch.randn(64, 20).cuda()).cpu()
