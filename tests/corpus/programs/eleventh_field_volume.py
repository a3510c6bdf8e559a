# SPDX-License-Identifier: Apache-2.0
"""Rigorous coupled-wave analysis of a grating: adds up the light's intensity over planes through the volume."""

import argparse
import math

import torch

ORDERS, GRID = 8, 24


class Simulation:
    """One grating layer, whose permittivity and thickness are to be optimized."""

    def __init__(self, wavelength=0.53):
        self.wavenumber = 2 * math.pi / wavelength
        self.permittivity = torch.full((ORDERS,), 2.1, device="cuda", requires_grad=True)
        self.thickness = torch.full((1,), 0.4, device="cuda", requires_grad=True)
        x = torch.arange(GRID, device="cuda") / GRID
        turns = torch.arange(ORDERS, device="cuda")[:, None, None] * (x[:, None] + x)
        self.basis = torch.exp(2j * math.pi * turns)

    def solve(self):
        """Propagation constants of the orders, and their amplitudes in each direction of the field."""
        self.kz = self.wavenumber * torch.sqrt(self.permittivity)
        decay = torch.exp(1j * self.kz * self.thickness)
        weights = torch.linspace(1, 0.2, ORDERS, device="cuda")
        self.amplitudes = torch.stack([decay * weights, 0.5 * decay, 0.1 * decay * weights])

    def field_xy(self, z):
        phase = torch.exp(1j * self.kz * z)  # allocates
        orders = self.amplitudes * phase
        electric = (orders[:, :, None, None] * self.basis).sum(1)  # allocates
        return electric.unbind(0)


def total_intensity(simulation, planes, depth=1.5):
    total = 0.0
    for plane in range(planes):
        z = depth * plane / planes  # step
        ex, ey, ez = simulation.field_xy(z)
        intensity = torch.abs(ex) ** 2 + torch.abs(ey) ** 2 + torch.abs(ez) ** 2  # allocates
        total += intensity  # keeps
        del ex, ey, ez, intensity
    return total / planes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    simulation = Simulation()
    simulation.solve()
    intensity = total_intensity(simulation, chosen.steps)
    focus = intensity[GRID // 2, GRID // 2] / intensity.mean()
    focus.backward()
    print(f"focus {focus.item():.4f}, slope of the thickness {simulation.thickness.grad.item():.4f}")


if __name__ == "__main__":
    main()
