# SPDX-License-Identifier: Apache-2.0
"""Trains under names that would do something if a page took them for more than text: files, functions, classes, modules,
phases, counters. A script among them would set window.hostile; a picture would ask a server for it."""

import torch
from torch import nn

import memtrace

NAMES = [
    "</script><script>window.hostile=1</script>",
    "<!--<script>",
    "\"'><img src=x onerror=window.hostile=2>",
    "<svg/onload=window.hostile=3>",
    "javascript:window.hostile=4",
    "{{constructor.constructor('window.hostile=5')()}}",
    "__proto__",
    "constructor",
    "\x01\x07\x08\x1b[31m\x7f\x80",
    "\u2028\u2029\u202eevil\u202c\ufeff",
    "]]>&lt;&#60;%3Cscript%3E",
    "@memtrace-columns@",
    "$& $' $` $1",
]
LONG = "long" * 250_000  # a million characters


def named(function, name: str):
    """The function under a file and a name that its code says it has."""
    code = function.__code__.replace(co_filename=f"/srv/{name}/{name}.py", co_name=name)
    if hasattr(code, "co_qualname"):
        code = code.replace(co_qualname=name)
    return type(function)(code, function.__globals__, name)


def allocate(model, batch):
    return model(batch).square().mean()


def main() -> None:
    torch.manual_seed(0)
    parts = nn.ModuleDict()
    for number, name in enumerate(NAMES):
        kind = type(name.replace("\0", ""), (nn.Linear,), {})
        parts[f"{number}{name}".replace(".", " ")] = kind(512, 512)
    model = nn.Sequential(*parts.values()).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(4):
        for name in [*NAMES, LONG]:
            with memtrace.phase(name):
                batch = torch.randn(256, 512, device="cuda")
                named(allocate, name[:4000])(model, batch).backward()
            memtrace.counter(name[:200], step)
        optimizer.step()
        optimizer.zero_grad()
    kept = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    memtrace.annotate(kept, "workspace", NAMES[0])


if __name__ == "__main__":
    main()
