# SPDX-License-Identifier: Apache-2.0
"""Changes that can be made to any program from outside, before it runs: `all:NAME` or `all:NAME=AMOUNT`."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

ADAMS = ("Adam", "AdamW")


def pure_bf16(_):
    torch.set_default_dtype(torch.bfloat16)


def another_optimizer(make):
    for name in ADAMS:
        setattr(torch.optim, name, make)


def optimizer_sgd(_):
    original = torch.optim.SGD
    another_optimizer(lambda params, lr, **form: original(params, lr=lr, momentum=0.9, **form))


def optimizer_adafactor(_):
    another_optimizer(lambda params, lr, **_: torch.optim.Adafactor(params, lr=lr, foreach=False))


def add_empty_cache(_):
    torch.optim.optimizer.register_optimizer_step_post_hook(lambda *_: torch.cuda.empty_cache())


def checkpointing(kind):
    """All modules of a class, by its name; none inside of another."""
    call, inside = nn.Module.__call__, []

    def checkpointed(self, *args, **kwargs):
        if type(self).__name__ != kind or inside or not torch.is_grad_enabled():
            return call(self, *args, **kwargs)
        inside.append(self)
        try:
            return checkpoint(call, self, *args, use_reentrant=False, **kwargs)
        finally:
            inside.pop()

    nn.Module.__call__ = checkpointed


CHANGES = {function.__name__: function for function in
           (pure_bf16, optimizer_sgd, optimizer_adafactor, add_empty_cache, checkpointing)}


def make(change: str) -> None:
    name, _, amount = change.partition("=")
    CHANGES[name](amount)
