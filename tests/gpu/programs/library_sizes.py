# SPDX-License-Identifier: Apache-2.0
"""The sizes of what PyTorch allocates in single operations of its libraries, each run a third time: printed as
one JSON object, by operation. What differs between a real and a simulated GPU is what the libraries ask for."""

import itertools
import json
import sys

import torch
from torch import nn
from torch.nn import functional

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def draw(*shape: int, of: str = "f32") -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(TYPES[of]).requires_grad_(True)


def trained(net: nn.Module, data: torch.Tensor):
    def run():
        made = net(data)
        (made[0] if isinstance(made, tuple) else made).float().sum().backward()
    return run


def evaluated(net: nn.Module, data: torch.Tensor):
    def run():
        with torch.no_grad():
            net(data)
    return run


def recurrent():
    shapes = [  # layers, both directions, width, hidden, batch, steps, type, dropout
        (1, False, 64, 96, 16, 10, "f32", 0), (1, False, 64, 96, 16, 20, "f32", 0), (1, False, 64, 96, 32, 10, "f32", 0),
        (1, False, 128, 96, 16, 10, "f32", 0), (1, False, 64, 192, 16, 10, "f32", 0), (2, False, 64, 96, 16, 10, "f32", 0),
        (2, False, 64, 96, 16, 10, "f32", 0.1), (3, False, 64, 96, 16, 10, "f32", 0), (1, True, 64, 96, 16, 10, "f32", 0),
        (2, True, 64, 96, 16, 10, "f32", 0.1), (2, True, 64, 96, 16, 17, "f32", 0.1), (1, False, 64, 96, 16, 10, "f16", 0),
        (2, True, 512, 512, 64, 100, "f32", 0.1), (2, True, 512, 512, 64, 100, "f16", 0.1),
        (1, False, 512, 1024, 32, 200, "f16", 0), (4, False, 1024, 1024, 64, 64, "f32", 0.2),
        (1, False, 1, 1, 1, 1, "f32", 0), (1, False, 1, 1, 1, 2, "f32", 0), (1, False, 300, 500, 7, 33, "bf16", 0)]
    for kind, shape, way in itertools.product(("LSTM", "GRU", "RNN"), shapes, (trained, evaluated)):
        layers, both, width, hidden, batch, steps, of, dropout = shape

        def make(kind=kind, shape=shape, way=way):
            layers, both, width, hidden, batch, steps, of, dropout = shape
            net = getattr(nn, kind)(width, hidden, layers, bidirectional=both, dropout=dropout)
            net = net.cuda().to(TYPES[of]).train(way is trained)
            return way(net, draw(steps, batch, width, of=of))

        yield f"{kind} {layers} layers both={both} {width}->{hidden} batch {batch} steps {steps} {of} {dropout} {way.__name__}", make


def convolutions():
    shapes = [  # dimensions, transposed, batch, channels in, out, size, kernel, stride, padding, groups
        *((2, False, n, *shape) for n in (16, 64) for shape in (
            (3, 64, 224, 7, 2, 3, 1), (64, 64, 56, 1, 1, 0, 1), (64, 64, 56, 3, 1, 1, 1), (64, 256, 56, 1, 1, 0, 1),
            (128, 128, 56, 3, 2, 1, 1), (256, 512, 56, 1, 2, 0, 1), (256, 256, 14, 3, 1, 1, 1), (512, 512, 7, 3, 1, 1, 1),
            (96, 96, 56, 7, 1, 3, 96), (3, 32, 16, 4, 2, 1, 1), (320, 320, 64, 3, 1, 1, 1))),
        (2, True, 16, 32, 64, 1, 4, 1, 0, 1), (2, True, 16, 64, 32, 4, 4, 2, 1, 1), (2, True, 16, 32, 3, 8, 4, 2, 1, 1),
        (1, False, 16, 80, 512, 1000, 3, 1, 1, 1), (3, False, 2, 16, 32, 32, 3, 1, 1, 1)]
    for shape, of, last, way in itertools.product(shapes, ("f32", "f16"), (False, True), (trained, evaluated)):
        dimensions, transposed, batch, wide, out, size, kernel, stride, padding, groups = shape
        if last and dimensions != 2:
            continue

        def make(shape=shape, of=of, last=last, way=way):
            dimensions, transposed, batch, wide, out, size, kernel, stride, padding, groups = shape
            form = torch.channels_last if last else torch.contiguous_format
            kind = getattr(nn, f"Conv{'Transpose' if transposed else ''}{dimensions}d")
            net = kind(wide, out, kernel, stride, padding, groups=groups, bias=False).cuda().to(TYPES[of])
            data = draw(batch, wide, *[size] * dimensions, of=of).detach()
            if last:
                net, data = net.to(memory_format=form), data.contiguous(memory_format=form)
            return way(net, data.requires_grad_(True))

        yield (f"{'transposed ' if transposed else ''}{dimensions}d batch {batch} {wide}->{out} size {size} kernel {kernel} "
               f"stride {stride} padding {padding} groups {groups} {of} last={last} {way.__name__}"), make
    for channels, size, of, last in itertools.product((64, 512), (56, 7), ("f32", "f16"), (False, True)):
        def make(channels=channels, size=size, of=of, last=last):
            form = torch.channels_last if last else torch.contiguous_format
            data = draw(32, channels, size, size, of=of).detach().contiguous(memory_format=form)
            return trained(nn.BatchNorm2d(channels).cuda(), data.requires_grad_(True))

        yield f"batch norm {channels} size {size} {of} last={last}", make


def attention():
    shapes = [  # batch, heads, tokens, keys, width, causal, mask, dropout, trained
        (4, 8, 512, 512, 64, False, False, 0.0, True), (4, 8, 512, 512, 64, True, False, 0.0, True),
        (4, 8, 512, 512, 64, False, True, 0.0, True), (4, 8, 500, 500, 64, False, True, 0.0, True),
        (4, 8, 512, 512, 128, True, False, 0.0, True), (4, 8, 512, 512, 80, True, False, 0.0, True),
        (4, 8, 512, 512, 64, True, False, 0.1, True), (4, 8, 512, 512, 64, True, False, 0.0, False),
        (4, 8, 77, 77, 64, False, False, 0.0, True), (4, 8, 4096, 4096, 64, True, False, 0.0, True),
        (4, 8, 512, 512, 256, True, False, 0.0, True), (32, 12, 1, 300, 64, False, False, 0.0, False),
        (32, 12, 1, 301, 64, False, True, 0.0, False)]
    for of, shape in itertools.product(TYPES, shapes):
        def make(of=of, shape=shape):
            batch, heads, tokens, keys, width, causal, masked, dropout, train = shape
            query = draw(batch, heads, tokens, width, of=of)
            pair = [draw(batch, heads, keys, width, of=of) for _ in range(2)]
            mask = torch.zeros(batch, 1, tokens, keys, device="cuda", dtype=TYPES[of]) if masked else None

            def net(query):
                return functional.scaled_dot_product_attention(query, *pair, mask, dropout, causal)

            return (trained if train else evaluated)(net, query)

        yield f"{of} {shape}", make


def matrices():
    for of, (rows, width, out) in itertools.product(TYPES, ((512, 1024, 4096), (8192, 4096, 4096), (64, 64, 64))):
        yield f"linear {rows} {width}->{out} {of}", lambda of=of, rows=rows, width=width, out=out: trained(
            nn.Linear(width, out).cuda().to(TYPES[of]), draw(rows, width, of=of))
        yield f"layer norm {rows} {width} {of}", lambda of=of, rows=rows, width=width: trained(
            nn.LayerNorm(width).cuda().to(TYPES[of]), draw(rows, width, of=of))
        yield f"group norm {rows // 64} {width} {of}", lambda of=of, rows=rows, width=width: trained(
            nn.GroupNorm(32, width).cuda().to(TYPES[of]), draw(rows // 64, width, 64, of=of))
    yield "encoder layer", lambda: trained(nn.TransformerEncoderLayer(512, 8, batch_first=True).cuda(), draw(16, 128, 512))
    for name, n in itertools.product(("cholesky", "inv", "svd", "eigh", "qr", "det", "lu_factor"), (64, 512, 1024)):
        def make(name=name, n=n):
            drawn = torch.randn(n, n, device="cuda")
            return evaluated(getattr(torch.linalg, name), drawn @ drawn.T + n * torch.eye(n, device="cuda"))

        yield f"{name} {n}", make


def reductions():
    calls = {
        "sort": torch.sort, "topk": lambda x: x.topk(100), "cumsum": lambda x: x.cumsum(0), "sum": torch.sum,
        "nonzero": lambda x: (x > 0).nonzero(), "unique": lambda x: (x * 100).long().unique(), "median": torch.median,
        "max": lambda x: x.max(0), "histc": lambda x: x.histc(100), "std": torch.std, "norm": torch.norm,
        "randperm": lambda x: torch.randperm(x.numel(), device="cuda"), "fft": torch.fft.fft, "rfft": torch.fft.rfft,
        "rows' fft": lambda x: torch.fft.fft(x.view(10, -1)), "rows' softmax": lambda x: x.view(10, -1).softmax(1),
        "index_put": lambda x: torch.zeros_like(x).index_put_(((x * 10).long() % 10,), x, accumulate=True)}
    for (name, call), n in itertools.product(calls.items(), (1000, 1_000_000, 10_000_000)):
        yield f"{name} {n}", lambda call=call, n=n: evaluated(call, torch.randn(n, device="cuda"))
    for vocabulary, rows in ((1000, 4096), (50000, 4096), (50000, 20000)):
        ids = torch.randint(0, vocabulary, (rows,), device="cuda")
        yield f"embedding {vocabulary} {rows}", lambda ids=ids, vocabulary=vocabulary: trained(
            nn.Embedding(vocabulary, 256).cuda(), ids)
        yield f"cross entropy {vocabulary} {rows}", lambda ids=ids, vocabulary=vocabulary, rows=rows: trained(
            lambda logits, ids=ids: functional.cross_entropy(logits, ids), draw(rows, vocabulary))


FAMILIES = {each.__name__: each for each in (recurrent, convolutions, attention, matrices, reductions)}


def allocations(run) -> list[int]:
    """Of the third time: then plans are made and handles there."""
    run()
    run()
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=100_000)
    try:
        run()
        torch.cuda.synchronize()
        entries = torch.cuda.memory._snapshot()["device_traces"][0]
    finally:
        torch.cuda.memory._record_memory_history(None)
    return [entry["size"] for entry in entries if entry["action"] == "alloc"]


def sizes(make) -> list[int] | str:
    try:
        return allocations(make())
    except RuntimeError as error:
        return str(error)[:200]


print(json.dumps({name: sizes(make) for name, make in FAMILIES[sys.argv[1]]()}))
