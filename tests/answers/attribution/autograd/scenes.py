# SPDX-License-Identifier: Apache-2.0
"""Backward passes of many kinds, with what Python knows about each, as JSON: scenes.py SCENE FILE.

These facts come from autograd's own bookkeeping, none of it from memtrace: anomaly mode
notes the stack of each node's forward call; nodes show the tensors that they saved; parameters
have their gradients. Moments in the trace are found by allocations of sizes that occur nowhere
else (marks)."""

import json
import re
import sys
import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

FIRST_MARK = 1_234_567


class Facts:
    def __init__(self):
        self.marks = 0
        self.passes = []
        self.calls = []  # of modules: first and last sequence number, the module, the outermost

    def watch(self, model):
        """Notes which nodes each of the model's modules makes: they are numbered one by one."""
        running = []

        def begin(module, _):
            running.append((torch.autograd._get_sequence_nr(), id(module)))

        def end(*_):
            first, module = running.pop()
            root = running[0][1] if running else module
            self.calls.append((first, torch.autograd._get_sequence_nr(), module, root))

        for module in model.modules():
            module.register_forward_pre_hook(begin)
            module.register_forward_hook(end)
        return model

    def made_by(self, node) -> tuple:
        """The module that made a node, and the outermost that was running: their ids, 0 without
        one; nothing where no model is watched."""
        if not self.calls:
            return ()
        number = node._sequence_nr()
        calls = [call for call in self.calls if call[0] <= number < call[1]]
        return min(calls, key=lambda call: call[1] - call[0])[2:] if calls else (0, 0)

    def mark(self) -> int:
        size = FIRST_MARK + self.marks
        self.marks += 1
        torch.empty(size, dtype=torch.uint8, device="cuda")
        return size

    def backward(self, result, run, parameters=(), saved=True, **also):
        """Runs a backward pass between two marks; `result` is a tensor whose graph it is. To look
        at a saved tensor runs the hooks that unpack it: not where these recompute."""
        nodes = nodes_of(result.grad_fn)
        known = {
            "nodes": [
                (node.name(), forward_of(node), *self.made_by(node)) for node in in_order(nodes)
            ],
            **also,
        }
        if saved:
            known["saved"] = sorted(saved_by(nodes))
        del nodes
        known["begin"] = self.mark()
        run()
        known["end"] = self.mark()
        known["leaves"] = [(address(p), address(p.grad)) for p in parameters if p.grad is not None]
        self.passes.append(known)


def address(tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def nodes_of(root) -> list:
    found, waiting = {}, [root]
    while waiting:
        node = waiting.pop()
        if node is None or node in found:
            continue
        found[node] = True
        waiting += [before for before, _ in node.next_functions]
    return list(found)


def in_order(nodes) -> list:
    """As autograd's engine runs them: the latest first, those that accumulate whenever they can."""
    return sorted(nodes, key=lambda node: -node._sequence_nr())


def forward_of(node) -> list | None:
    """The stack of the forward call, innermost first; that of a node which backward made is the
    stack of the node that made it. None: the node has none (AccumulateGrad)."""
    while (made_by := node.metadata.get("parent_")) is not None:
        node = made_by
    lines = node.metadata.get("traceback_")
    if lines is None:
        return None
    found = []
    for line in reversed(lines):
        file, number, function = re.match(r'\s*File "(.*)", line (\d+), in (.*)', line).groups()
        found.append((file, int(number), function))
    return found


def saved_by(nodes) -> set:
    found = set()
    for node in nodes:
        values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        values += getattr(node, "saved_tensors", ())
        for value in values:
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(tensor, torch.Tensor) and tensor.is_cuda:
                    found.add(address(tensor))
    return found


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.before_wide = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)
        self.heads = heads

    def attention(self, x):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(x).view(shape).permute(2, 0, 3, 1, 4)
        scores = self.drop((q @ k.transpose(-1, -2) * 0.25).softmax(-1))
        return self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.drop(self.narrow(nn.functional.gelu(self.wide(self.before_wide(x)))))


class Transformer(nn.Module):
    def __init__(self, reentrant=None):
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        self.blocks = nn.ModuleList(Block(64, 4) for _ in range(3))
        self.head = nn.Linear(64, 100)
        self.reentrant = reentrant

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            if self.reentrant is None:
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(x)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * gradient * x * x


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ArithmeticError("backward fails")


class Nested(torch.autograd.Function):
    """Runs a backward pass of its own inside its backward, as reentrant checkpointing does."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            y = x.exp()
        torch.autograd.backward(y, gradient)
        return x.grad


def batch():
    return torch.randint(0, 100, (4, 32), device="cuda")


def loss_of(model, tokens, amp=False):
    with torch.autocast("cuda", torch.bfloat16, enabled=amp):
        return nn.functional.cross_entropy(model(tokens).view(-1, 100).float(), tokens.view(-1))


def transformer(facts, amp=False, reentrant=None):
    model = Transformer(reentrant).cuda()
    if reentrant is None:
        facts.watch(model)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters)
    for _ in range(2):
        loss = loss_of(model, batch(), amp)
        facts.backward(loss, loss.backward, parameters, saved=reentrant is None)
        optimizer.step()
        optimizer.zero_grad()


def autocast(facts):
    transformer(facts, amp=True)


def reentrant(facts):
    transformer(facts, reentrant=True)


def not_reentrant(facts):
    transformer(facts, reentrant=False)


def custom(facts):
    model = facts.watch(Transformer().cuda())
    tokens = batch()
    result = Cube.apply(model(tokens))
    loss = nn.functional.cross_entropy(result.view(-1, 100), tokens.view(-1))
    facts.backward(loss, loss.backward, list(model.parameters()))


def twice(facts):
    model = Transformer().cuda()
    loss = loss_of(model, batch())
    parameters = list(model.parameters())
    gradients = []

    def first():
        gradients.extend(torch.autograd.grad(loss, parameters, create_graph=True))

    facts.backward(loss, first)
    penalty = sum((gradient * gradient).sum() for gradient in gradients)
    total = loss + penalty
    facts.backward(total, total.backward, parameters)


def nested(facts):
    x = torch.randn(1000, device="cuda", requires_grad=True)
    loss = (Nested.apply(x * 2) * 3).sum()
    facts.backward(loss, loss.backward, [x])


def failing(facts):
    x = torch.randn(1000, device="cuda", requires_grad=True)
    y = (Failing.apply(x * 2) * 3).sum()

    def run():
        try:
            y.backward()
        except ArithmeticError:
            return
        raise AssertionError("the exception did not arrive")

    facts.backward(y, run)
    loss = (x * x).sum()
    facts.backward(loss, loss.backward, [x])


def threads(facts):
    """Forward in threads that have ended when the main thread runs backward."""
    model = Transformer().cuda()
    losses = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: losses.append(loss_of(model, batch())))
        thread.start()
        thread.join()
    for loss in losses:
        facts.backward(loss, loss.backward)


def offloaded(facts):
    x = torch.randn(1000, device="cuda", requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = x.exp()
        loss = (y * y).sum()
    facts.backward(loss, loss.backward, [x], saved=False, packed=[address(y)])


def many_nodes(facts):
    """More nodes than are remembered at first."""
    x = torch.randn(10, device="cuda", requires_grad=True)
    for _ in range(2):
        y = x
        for _ in range(33_000):
            y = -y
        begin = facts.mark()
        y.sum().backward()
        facts.passes.append({"begin": begin, "end": facts.mark()})


def modes(facts):
    """A mark in each mode, then autocast's copy of a weight, used twice and kept in between."""
    for manager in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with manager():
            facts.passes.append({"mode": manager.__name__, "mark": facts.mark()})
    weight = torch.randn(64, 64, device="cuda", requires_grad=True)
    x = torch.randn(64, 64, device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        facts.passes.append({"mode": "autocast", "mark": facts.mark()})
        (x @ weight) + (x @ weight)
    facts.passes.append({"copied": [address(x), address(weight)], "mark": facts.mark()})


class Keeps(torch.autograd.Function):
    """Leaves tensors on its context, as its `how` says, and saves none."""

    @staticmethod
    def forward(ctx, x, how, facts):
        kept = x * 2
        ctx.how, ctx.scale, ctx.label = how, 3.0, "many" * 100
        if how == "attribute":
            ctx.kept = kept
        elif how == "tuple":
            ctx.kept = (None, kept, "text")
        elif how == "list":
            ctx.kept = [kept]
        elif how == "dictionary":
            ctx.kept = {"first": kept, "second": 2}
        elif how == "many":
            for i in range(60):  # more than Python keeps beside an object
                setattr(ctx, f"number_{i}", i)
            ctx.kept = kept
        facts.append(address(kept))
        return x + 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.scale, None, None


def attributes(facts):
    x = torch.ones(1000, device="cuda", requires_grad=True)
    for how in ("attribute", "tuple", "list", "dictionary", "many", "nothing"):
        kept = []
        result = Keeps.apply(x, how, kept).sum()
        facts.backward(result, result.backward, how=how, kept=kept)


def main():
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    facts = Facts()
    if sys.argv[1] not in ("many_nodes", "modes"):
        torch.autograd.set_detect_anomaly(True, check_nan=False)
    globals()[sys.argv[1]](facts)
    with open(sys.argv[2], "w") as file:
        json.dump(facts.passes, file)


if __name__ == "__main__":
    main()
