# SPDX-License-Identifier: Apache-2.0
"""Attributes the predictions of several sequence models to their input letters, one model after the other."""

import argparse

import torch
from torch import nn

LETTERS, LENGTH, PAIRS = 4, 200, 16


def sequence_model():
    return nn.Sequential(nn.Conv1d(LETTERS, 16, 7), nn.ReLU(), nn.Conv1d(16, 8, 5), nn.ReLU(),
                         nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 1))


def before(module, inputs):
    copy = inputs[0].clone().detach()  # allocates
    module.input = copy  # keeps


def after(module, inputs, outputs):
    copy = outputs.clone().detach()  # allocates
    module.output = copy  # keeps


def rescale(module, grad_input, grad_output):
    """The rule of rescaling: what went in and out of a sequence less what did of its reference."""
    went_in = module.input[:PAIRS] - module.input[PAIRS:]
    came_out = module.output[:PAIRS] - module.output[PAIRS:]
    ratio = (came_out / (went_in + 1e-6)).repeat(2, 1, 1)
    return (grad_output[0] * ratio,)


def register_hooks(module):
    if isinstance(module, nn.ReLU):
        module.handles = [module.register_forward_pre_hook(before), module.register_forward_hook(after),
                          module.register_full_backward_hook(rescale)]


def clear_hooks(module):
    for handle in getattr(module, "handles", []):
        handle.remove()
    if hasattr(module, "handles"):
        del module.handles


def attribute(model, sequences, references):
    """Contributions of each letter, a batch of pairs at a time."""
    model.apply(register_hooks)
    parts = []
    try:
        for start in range(0, len(sequences), PAIRS):
            one = sequences[start:start + PAIRS].cuda()
            other = references[start:start + PAIRS].cuda()
            both = torch.cat([one, other]).requires_grad_()
            multipliers, = torch.autograd.grad(model(both).sum(), both)
            parts.append(((one - other) * multipliers[:PAIRS]).sum(1).cpu())
    finally:
        model.apply(clear_hooks)
    return torch.cat(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    models = [sequence_model().cuda().eval() for _ in range(chosen.steps)]
    sequences = torch.eye(LETTERS)[torch.randint(LETTERS, (2 * PAIRS, LENGTH))].transpose(1, 2)
    references = sequences[:, :, torch.randperm(LENGTH)]
    attributions = []
    for model in models:
        name = f"model {len(attributions)}"  # step
        attributions.append(attribute(model, sequences, references))
        print(name, tuple(attributions[-1].shape))


if __name__ == "__main__":
    main()
