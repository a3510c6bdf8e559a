# SPDX-License-Identifier: Apache-2.0
"""Prints what a library that is loaded into a process may leave behind in it, after training."""

import atexit
import gc
import locale
import logging
import os
import signal
import sys
import threading
import traceback
import warnings

import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

import models
from saying import say


def say_python():
    say("modules", sorted(sys.modules))
    say("path", [sys.path, sys.meta_path, sys.path_hooks])
    say("hooks", [sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook,
                  sys.unraisablehook, threading.excepthook])
    say("warning filters", warnings.filters)
    say("flags", [sys.flags, sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode])
    say("at exit", atexit._ncallbacks())
    say("threads", [thread.name for thread in threading.enumerate()])
    say("logging", [logging.root.handlers, sorted(logging.root.manager.loggerDict)])
    say("locale", locale.setlocale(locale.LC_ALL))
    say("builtins", sorted(__builtins__.__dict__))
    say("main", sorted(sys.modules["__main__"].__dict__))
    say("collector", [gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks,
                      gc.get_freeze_count(), gc.garbage])
    say("environment", sorted(name for name in os.environ if not name.startswith(("MEMTRACE_", "LD_"))))


def say_signals():
    say("handlers", [signal.getsignal(number) for number in sorted(signal.valid_signals())])
    say("wakeup", signal.set_wakeup_fd(-1))
    with open("/proc/self/status") as status:
        say("masks", [line.split() for line in status if line.startswith(("Sig", "Shd"))][1:])
    say("timers", [signal.getitimer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_PROF)])
    say("directory", [os.getcwd(), os.umask(0o22)])


def say_torch(model, optimizer):
    say("modes", [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(),
                  torch.is_autocast_enabled("cuda"), torch.is_anomaly_enabled(),
                  torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()])
    say("dispatch modes", torch.utils._python_dispatch._get_current_dispatch_mode_stack())
    say("function modes", torch.overrides._get_current_function_mode_stack())
    say("saved tensor hooks", torch._C._autograd._top_saved_tensors_default_hooks(True))
    for name in sorted(vars(modules)):
        if name.startswith("_global") and isinstance(getattr(modules, name), dict):
            say(name, dict(getattr(modules, name)))
    for kind in (nn.Module, torch.optim.Optimizer, torch.Tensor, torch.nn.Parameter, models.Model):
        say(f"{kind.__name__}'s names", sorted(vars(kind)))
    for path, module in model.named_modules():
        kept = {name: value for name, value in vars(module).items() if "hooks" in name}
        say(f"module {path}", [sorted(vars(module)), kept])
    for path, parameter in model.named_parameters():
        say(f"parameter {path}", [vars(parameter), parameter._backward_hooks, parameter._version,
                                  parameter._post_accumulate_grad_hooks, sys.getrefcount(parameter),
                                  sys.getrefcount(parameter.grad), parameter.grad._version])
    say("optimizer", [sorted(vars(optimizer)), optimizer._optimizer_step_pre_hooks,
                      optimizer._optimizer_step_post_hooks, sys.getrefcount(optimizer)])
    say("optimizer's step", [type(optimizer).step.__qualname__, optimizer.step.__name__])
    say("state", [sys.getrefcount(value) for state in optimizer.state.values()
                  for value in state.values() if torch.is_tensor(value)])
    say("references", [sys.getrefcount(model), sys.getrefcount(model.blocks)])


class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("on purpose")


class FailingOptimizer(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        raise ValueError("on purpose")


def say_exceptions(model):
    for what in (lambda: nn.Sequential(Fails())(torch.ones(1, device="cuda")),
                 FailingOptimizer(model.parameters(), lr=1).step,
                 lambda: model(torch.full((4,), 3.5, device="cuda"))):
        try:
            what()
        except Exception:
            say("exception", traceback.format_exc())


def user_hooks(model, optimizer):
    """Handles count up through the whole process, and their numbers are keys of the module's hooks."""
    seen = []
    handles = [
        model.head.register_forward_hook(models.hook),
        register_optimizer_step_pre_hook(
            lambda optimizer, arguments, named: seen.append("global before")),
        register_optimizer_step_post_hook(
            lambda optimizer, arguments, named: seen.append("global after")),
        optimizer.register_step_pre_hook(lambda optimizer, arguments, named: seen.append("before")),
        optimizer.register_step_post_hook(lambda optimizer, arguments, named: seen.append("after")),
        modules.register_module_forward_hook(models.hook),
    ]
    models.step(model, optimizer, "cuda")
    say("user's hooks", [seen, [handle.id for handle in handles], [*model.head._forward_hooks]])
    for handle in handles:
        handle.remove()


def main():
    model, handle = models.hooked("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        models.step(model, optimizer, "cuda")
    say("user's hook", handle.id)
    user_hooks(model, optimizer)
    say_exceptions(model)
    say_torch(model, optimizer)
    say_python()
    say_signals()


main()
