# SPDX-License-Identifier: Apache-2.0
"""Objects that notice, or fail, when somebody else looks at them. Prints who was asked what."""

import collections

import torch
from torch import nn

from saying import say

asked = collections.Counter()


class Watched(nn.Module):
    """Overrides what one would walk a model with."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        return self.inner(x)

    def _asked(self, what):
        asked[what] += 1
        raise RuntimeError(f"{what} is not for you")

    def named_modules(self, *arguments, **named):
        self._asked("named_modules")

    def named_parameters(self, *arguments, **named):
        self._asked("named_parameters")

    def named_buffers(self, *arguments, **named):
        self._asked("named_buffers")

    def named_children(self):
        self._asked("named_children")

    def parameters(self, *arguments, **named):
        self._asked("parameters")

    def modules(self):
        self._asked("modules")

    def state_dict(self, *arguments, **named):
        self._asked("state_dict")

    def __eq__(self, other):
        self._asked("__eq__")

    def __hash__(self):
        asked["__hash__"] += 1
        return 7

    def __bool__(self):
        self._asked("__bool__")

    def __len__(self):
        self._asked("__len__")

    def __repr__(self):
        self._asked("__repr__")

    def __getattr__(self, name):
        asked[f"__getattr__ {name}"] += 1
        return super().__getattr__(name)

    @property
    def training_time(self):
        self._asked("training_time")


class WatchedParameter(torch.Tensor):
    """Every function that is called on it is counted."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        asked[f"torch function {getattr(function, '__qualname__', function)}"] += 1
        return super().__torch_function__(function, types, arguments, named or {})


class Slotted(torch.optim.SGD):
    """Its state is a mapping of its own, and its step takes what the base class does not."""

    class State(dict):
        def items(self):
            asked["state.items"] += 1
            raise RuntimeError("not for you")

        def values(self):
            asked["state.values"] += 1
            raise RuntimeError("not for you")

        def __iter__(self):
            asked["state.__iter__"] += 1
            raise RuntimeError("not for you")

    def __init__(self, parameters):
        super().__init__(parameters, lr=0.1)
        self.state = self.State()

    @torch.no_grad()
    def step(self, closure=None, *, scale=1.0):
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = {"old": parameter.clone(), "list": [parameter], "none": None}
                parameter.sub_(parameter.grad, alpha=group["lr"] * scale)


class NotInitialized(nn.Module):
    """Calls no __init__ of nn.Module: it has none of the attributes of one."""

    def __init__(self):
        self.__dict__["answer"] = 42


class Recursive(nn.Module):
    """A module that holds itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.__dict__["_modules"]["itself"] = self
        self.__dict__["_modules"]["nothing"] = None
        self.__dict__["_modules"]["a string"] = "not a module"

    def forward(self, x):
        return self.layer(x)


def steps(model, inner, optimizer, **named):
    for _ in range(3):
        model(torch.ones(2, inner.in_features, device="cuda")).sum().backward()
        optimizer.step(**named)
        optimizer.zero_grad()


def main():
    watched = Watched()
    watched.inner.cuda()
    steps(watched, watched.inner, Slotted(list(watched.inner.parameters())), scale=0.5)
    say("watched", sorted(asked.items()))
    asked.clear()

    linear = nn.Linear(8, 8).cuda()
    linear.extra = WatchedParameter(torch.ones(8, device="cuda"))
    linear.weight = nn.Parameter(linear.weight.detach().as_subclass(WatchedParameter))
    steps(linear, linear, torch.optim.SGD(linear.parameters(), lr=0.1, momentum=0.9))
    say("parameter", sorted(asked.items()))
    asked.clear()

    recursive = Recursive()
    recursive.layer.cuda()
    steps(recursive, recursive.layer, torch.optim.AdamW(recursive.layer.parameters()))
    try:
        NotInitialized()(torch.ones(1, device="cuda"))
    except Exception as failure:
        say("not initialized", f"{type(failure).__name__}: {failure}")
    empty = torch.optim.SGD([{"params": []}, {"params": list(linear.parameters())}], lr=0.1)
    empty.param_groups[0]["params"] = "nonsense"
    empty.param_groups.append("nonsense")
    try:
        empty.step()
    except Exception as failure:
        say("groups", f"{type(failure).__name__}: {failure}")
    say("memory", torch.cuda.memory_allocated())


main()
