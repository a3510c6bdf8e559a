# SPDX-License-Identifier: Apache-2.0
"""Maps of what a convolutional network looked at, image by image, from a layer's activations and their gradients."""

import argparse

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.features = nn.ModuleList([nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)])
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        for layer in self.features:
            x = layer(x)  # allocates
        return self.head(x.relu().mean((2, 3)))


class ActivationsAndGradients:
    """Saves what hooks on the layer are given."""

    def __init__(self, model, layer):
        self.model = model
        self.activations, self.gradients = [], []
        layer.register_forward_hook(self.save_activation)
        layer.register_full_backward_hook(self.save_gradient)

    def save_activation(self, module, args, output):
        self.activations.append(output)  # keeps

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients.append(grad_output[0])  # keeps

    def __call__(self, x):
        return self.model(x)


class ClassMap:
    def __init__(self, model, layer):
        self.model = model
        self.watched = ActivationsAndGradients(model, layer)

    def __call__(self, image, category):
        scores = self.watched(image)
        self.model.zero_grad()
        scores[0, category].backward(retain_graph=True)  # allocates
        activation = self.watched.activations[-1].detach()
        weights = self.watched.gradients[-1].mean((2, 3), keepdim=True)
        return (weights * activation).sum(1).relu().cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Network().cuda().eval()
    class_map = ClassMap(model, model.features[-1])
    seen = 0.0
    for number in range(chosen.steps):
        picture = torch.rand(1, 3, 32, 32)  # step
        image = picture.to("cuda")  # allocates
        seen += class_map(image, number % 6).mean().item()
    print(f"mean of the maps {seen / chosen.steps:.4f}")


if __name__ == "__main__":
    main()
