# SPDX-License-Identifier: Apache-2.0
"""GPU memory held in every way that a training program knows, each written down with the path that
a census should give, before any census was looked at; then one census, and what PyTorch's allocator
says at that moment, as JSON into the file that is the argument."""
import collections
import ctypes
import functools
import json
import sys
import weakref

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

GRAPH, TRACEBACK, HOOK, BOUNDED, VIEW, GRADIENT, HAS_GRAPH, UNREACHABLE, TRAINED = (
    2, 4, 8, 16, 32, 64, 128, 256, 512)
STATE = 2048
DEVICE = "cuda"
expected = []  # (address, path, container, length, owner, flags)
take_census = ctypes.PyDLL(None).memtrace_census


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def expect(tensor, path, container="", length="", owner="local of main", flags=0):
    expected.append([address(tensor), path, container, length, owner, flags])
    return tensor


def new(*size):
    return torch.zeros(*size, device=DEVICE)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mine = expect(x + 1, "squares[…].grad_fn.mine", "list", "2", flags=GRAPH)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)
        self.norm = torch.nn.LayerNorm(64)
        self.seen = []

    def forward(self, x):
        return F.gelu(self.norm(self.linear(x))) + x


class Cache:
    entries = {}


class Strange(torch.Tensor):
    """A subclass whose every use from Python is an error once it is armed."""
    armed = False

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        assert not cls.armed, "the census called %s" % function
        return super().__torch_function__(function, types, args, kwargs or {})


class NoDispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise AssertionError("the census dispatched %s" % function)


def no_hook(tensor):
    raise AssertionError("the census packed or unpacked a saved tensor")


class Node:
    pass


@functools.lru_cache(maxsize=8)
def encode(number):
    return new(500 + number)


def make_cycle():
    # So large that it is worth a search of all that Python knows.
    node = Node()
    node.itself = node
    node.memory = expect(new(100_000), "Node.memory", owner="nothing: a cycle or C++",
                         flags=UNREACHABLE)


def raw_saved(tensor):
    """The tensors that the graph behind a tensor has saved, by PyTorch itself."""
    waiting, seen, found = [tensor.grad_fn], set(), set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]
        names = [name for name in dir(node) if name.startswith("_raw_saved")]
        for saved in (getattr(node, name) for name in names):
            for one in saved if isinstance(saved, (tuple, list)) else [saved]:
                data = getattr(one, "data", None)
                if isinstance(data, torch.Tensor) and data.is_cuda:
                    found.add(address(data))
    return found


def train(model, optimizer):
    """A step, so that there are gradients, optimizer state and workspaces."""
    model(torch.ones(8, 64, device=DEVICE)).sum().backward()
    optimizer.step()


def main():
    model = torch.nn.Sequential(Block(), torch.nn.ReLU(), Block()).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer)
    for parameter in model.parameters():
        expect(parameter, "model", flags=TRAINED)
        expect(parameter.grad, "model.grad", flags=GRADIENT)
        expect(optimizer.state[parameter]["exp_avg"], "optimizer.state[…]['exp_avg']",
               "defaultdict", "8", flags=STATE)
    conv = torch.nn.Conv2d(3, 8, 3, device=DEVICE)
    lstm = torch.nn.LSTM(32, 32, device=DEVICE)
    losses, squares, states, images, checkpointed, on_host = [], [], [], [], [], []
    for number in range(3):
        x = new(16, 64)
        losses.append(model(x).square().mean())
        state = lstm(new(5, 4, 32))[1]
        states.append(state)
        images.append(F.dropout(conv(new(2, 3, 16, 16)).relu()).mean())
        checkpointed.append(checkpoint(model, new(16, 64).requires_grad_(), use_reentrant=False))
        on_host.append(F.cross_entropy(model(new(16, 64)), new(16).long()).cpu())
        if number < 2:
            squares.append(Square.apply(model(new(16, 64))))
    del x, state, number, parameter
    for tensor in losses:
        expect(tensor, "losses[…]", "list", "3", flags=HAS_GRAPH)
    for tensor in squares:
        expect(tensor, "squares[…]", "list", "2", flags=HAS_GRAPH)
    for state in states:
        for tensor in state:
            expect(tensor, "states[…]", "list", "3", flags=HAS_GRAPH)
    del tensor, state
    batch = new(1000, 100)
    views = [expect(batch[:10], "views[…]", "list", "1", flags=VIEW)]
    halves = list(new(1000, 2).unbind(1))
    expect(halves[0], "halves[…]", "list", "2")
    del batch
    model[2].seen.append(expect(new(300), "model[…].seen[…]", "list", "1"))
    recent = collections.deque([expect(new(310), "recent[…]", "deque(maxlen=3)", "1",
                                       flags=BOUNDED)], 3)
    Cache.entries["key"] = expect(new(320), "Cache.entries['key']", "dict", "1",
                                  "global of __main__")
    expect(encode(1), "encode[…]", "lru_cache(maxsize=8)", "1", "global of __main__", BOUNDED)
    strange = expect(new(330).as_subclass(Strange), "strange")
    storage = new(340).untyped_storage()
    expected.append([storage.data_ptr(), "storage", "", "", "local of main", 0])
    of_host = torch.zeros(350).untyped_storage()
    with_attribute = new(4)
    with_attribute.extra = expect(new(360), "with_attribute.extra")
    features = []

    def hook(module, arguments, output):
        features.append(output.detach().clone())

    model[0].register_forward_hook(hook)
    model(new(1, 64))
    expect(features[0], "features[…]", "list", "1")
    make_cycle()
    weak = weakref.ref(losses[0])
    things = [losses, losses[0], losses[0].grad_fn, strange, model, optimizer]
    counts = [sys.getrefcount(thing) for thing in things]

    Strange.armed = True
    with NoDispatch(), torch.autograd.graph.saved_tensors_hooks(no_hook, no_hook):
        take_census()
    Strange.armed = False

    assert [sys.getrefcount(thing) for thing in things] == counts
    blocks = [(block["address"], block["requested_size"])
              for segment in torch.cuda.memory._snapshot()["segments"]
              for block in segment["blocks"] if block["state"] == "active_allocated"]
    graphs = {name: [sorted(raw_saved(tensor)) for tensor in tensors] for name, tensors in (
        ("losses", losses), ("images", images), ("on_host", on_host), ("squares", squares),
        ("states", [state[0] for state in states]))}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"expected": expected, "blocks": blocks, "graphs": graphs,
                   "host": [of_host.data_ptr()]}, file)
    del things
    before = torch.cuda.memory_allocated()
    losses.clear()
    assert weak() is None, "the census keeps a tensor alive"
    assert torch.cuda.memory_allocated() < before
    # In a backward pass, from a hook: the engine's thread has the GIL.
    output = model(new(16, 64))
    output.register_hook(lambda gradient: (take_census(), None)[1])
    output.sum().backward()
    return recent, views, halves, checkpointed, with_attribute


main()
print("the program ended as it would")
