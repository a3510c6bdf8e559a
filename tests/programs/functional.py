# SPDX-License-Identifier: Apache-2.0
"""torch.func: gradients of each sample by vmap and functional_call, clipped and averaged, as in
private training; --ensemble trains stacked models at once instead.

Functions of torch.func leave cycles behind that hold memory: they are collected between steps, as
large trainings do, so that memory does not depend on when Python would."""

import copy
import gc

import torch
from torch import func, nn

import told
from batches import DEVICE, on_device, options, peak
from variant import flag

ENSEMBLE = flag("--ensemble")
PIXELS, WIDTH, CLASSES, MODELS = 256, 384, 10, 6


def network():
    return nn.Sequential(nn.Linear(PIXELS, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(),
                         nn.Linear(WIDTH, CLASSES))


def private(chosen):
    model = network().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def loss_of(parameters, image, label):
        said = func.functional_call(model, parameters, (image.unsqueeze(0),))
        return nn.functional.cross_entropy(said, label.unsqueeze(0))

    gradients_of_each = func.vmap(func.grad(loss_of), in_dims=(None, 0, 0))
    rows = ((torch.rand(64, PIXELS), torch.randint(CLASSES, (64,))) for _ in range(chosen.steps))
    for image, label in on_device(rows, chosen.streams):
        parameters = {name: one.detach() for name, one in model.named_parameters()}
        each = gradients_of_each(parameters, image, label)
        told.gradients(*each.values(), name="gradients of each sample")
        lengths = sum(one.flatten(1).pow(2).sum(1) for one in each.values()).sqrt()
        scale = (1.0 / lengths).clamp(max=1.0)
        for name, parameter in model.named_parameters():
            parameter.grad = torch.einsum("b,b...->...", scale, each[name]) / len(image)
        optimizer.step()
        optimizer.zero_grad()
        del each
        gc.collect()


def ensemble(chosen):
    models = [network().to(DEVICE) for _ in range(MODELS)]
    parameters, buffers = func.stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")
    del models
    optimizer = torch.optim.Adam(parameters.values(), lr=1e-3)

    def said(one, kept, image):
        return func.functional_call(base, (one, kept), (image,))

    rows = ((torch.rand(1024, PIXELS), torch.randint(CLASSES, (1024,))) for _ in range(chosen.steps))
    for image, label in on_device(rows, chosen.streams):
        logits = func.vmap(said, in_dims=(0, 0, None))(parameters, buffers, image)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), label.repeat(MODELS))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    chosen = options(steps=4 if ENSEMBLE else 2)
    gc.disable()
    ensemble(chosen) if ENSEMBLE else private(chosen)
    print(f"functional: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
