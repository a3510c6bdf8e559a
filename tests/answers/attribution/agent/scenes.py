# SPDX-License-Identifier: Apache-2.0
"""Small trainings that end with what each of their tensors is: scenes.py NAME FACTS.json.

FACTS: {"tensors": {address: [role, name, detail]}, …}. Names are those of PyTorch's own
named_parameters(), put together here and not by memtrace.
"""
import gc
import json
import sys
import threading
import weakref

import torch
from torch import nn

facts = {"tensors": {}}


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.norm(x)


def batch(dtype=torch.float32):
    return torch.randn(8, 64, device="cuda", dtype=dtype)


def step(model, optimizer):
    model(batch()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def dtype_of(tensor):
    return str(tensor.dtype).partition(".")[2]


def know_model(model):
    for name, parameter in model.named_parameters():
        facts["tensors"][address(parameter)] = ["parameter", name, dtype_of(parameter)]
    for name, buffer in model.named_buffers():
        facts["tensors"][address(buffer)] = ["buffer", name, dtype_of(buffer)]


def know_states(optimizer, names):
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            values = value if isinstance(value, list) else [value]
            for tensor in values:
                if torch.is_tensor(tensor) and tensor.is_cuda:
                    facts["tensors"][address(tensor)] = ["optimizer_state", names[parameter], key]


def know(model, optimizer):
    know_model(model)
    know_states(optimizer, {parameter: name for name, parameter in model.named_parameters()})


def train(model, optimizer, steps=3):
    for _ in range(steps):
        step(model, optimizer)
    know(model, optimizer)
    return model, optimizer  # alive until the facts are complete


def adamw():
    model = Net().cuda()
    return train(model, torch.optim.AdamW(model.parameters()))


def fused():
    model = Net().cuda()
    return train(model, torch.optim.AdamW(model.parameters(), fused=True, capturable=True))


def lbfgs():
    model = Net().cuda()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
    data = batch()

    def closure():
        optimizer.zero_grad()
        loss = (model(data) - 1).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    know(model, optimizer)
    return model, optimizer


def half_in_the_middle():
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        step(model, optimizer)
    model.half().eval()
    with torch.no_grad():
        for _ in range(3):
            model(batch(torch.float16))
    know_model(model)
    return model, optimizer


def loaded_states():
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        step(model, optimizer)
    optimizer.load_state_dict(optimizer.state_dict())
    return train(model, optimizer, 2)


def gan():
    generator, discriminator = Net().cuda(), Net().cuda()
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(discriminator.parameters())
    for _ in range(3):
        noise = batch()
        second.zero_grad()
        discriminator(generator(noise).detach()).mean().backward()
        second.step()
        first.zero_grad()
        discriminator(generator(noise)).mean().backward()
        first.step()
    know(generator, first)
    know(discriminator, second)
    return generator, discriminator, first, second


def tied():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(100, 64)
            self.head = nn.Linear(64, 100, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.embedding(x))

    model = Tied().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.randint(0, 100, (4, 8), device="cuda")).mean().backward()
        optimizer.step()
    know_model(model)
    return model, optimizer


def flattened():
    model = nn.Sequential(nn.LSTM(64, 64, 2, batch_first=True)).cuda()
    for _ in range(2):
        model(torch.randn(4, 8, 64, device="cuda"))[0].mean().backward()
    storages = {address(parameter) for parameter in model.parameters()}
    assert len(storages) == 1
    facts["tensors"][storages.pop()] = ["parameter", "0.*", "float32"]
    return model


def without_modules():
    weight = torch.randn(64, 64, device="cuda", requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    for _ in range(3):
        (batch() @ weight).mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    name = "param_groups[0].params[0]"
    facts["tensors"][address(weight)] = ["parameter", name, "float32"]
    know_states(optimizer, {weight: name})
    return weight, optimizer


def compiled():
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    train(torch.compile(model, backend="eager", fullgraph=True), optimizer)
    facts["tensors"].clear()
    know(model, optimizer)
    return model, optimizer


def in_a_thread():
    """The main thread waits in C all the while."""
    kept = []

    def work():
        model = Net().cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(1500):
            step(model, optimizer)
        kept.extend(train(model, optimizer, 1))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return kept


def exception_in_step():
    class Failing(torch.optim.SGD):
        def step(self, closure=None):
            kept.append(torch.empty(1111, device="cuda"))
            raise ValueError

    kept = []
    model = Net().cuda()
    optimizer, failing = (torch.optim.AdamW(model.parameters()),
                          Failing(model.parameters(), lr=0.1))
    for _ in range(2):
        step(model, optimizer)
        try:
            failing.step()
        except ValueError:
            kept.append(torch.empty(2222, device="cuda"))
    step(model, optimizer)
    know(model, optimizer)
    return model, optimizer, kept


def lifetimes():
    """Nothing dies later than without the agent."""
    def gone(references):
        return [reference() is None for reference in references]

    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer)
    references = [weakref.ref(thing) for thing in (
        model, model.layers[0], optimizer, model.layers[0].weight,
        optimizer.state[model.layers[0].weight]["exp_avg"])]
    facts["tensors"].clear()
    gc.collect()
    gc.disable()
    del model
    facts["after the model"] = gone(references)
    del optimizer
    facts["after the optimizer"] = gone(references)
    gc.enable()
    gc.collect()
    facts["after a collection"] = gone(references)
    for _ in range(3):
        adamw()
    return adamw()


def stepped():
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        step(model, optimizer)
    return model, optimizer


def group_added():
    model, optimizer = stepped()
    more = Net().cuda()
    optimizer.add_param_group({"params": list(more.parameters())})
    (model(batch()) + more(batch())).mean().backward()
    optimizer.step()
    know_model(model)
    know_model(more)
    know_states(optimizer, {tensor: name for module in (model, more)
                            for name, tensor in module.named_parameters()})
    return model, more, optimizer


def parameter_replaced():
    """In the module and in the optimizer's list, which keeps its length."""
    model, optimizer = stepped()
    old = model.layers[0].weight
    model.layers[0].weight = nn.Parameter(old.detach().clone())
    place = next(i for i, tensor in enumerate(optimizer.param_groups[0]["params"]) if tensor is old)
    optimizer.param_groups[0]["params"][place] = model.layers[0].weight
    optimizer.state.pop(old)
    return *train(model, optimizer, 1), old


def data_replaced():
    """With the old memory alive, so that no free tells of it."""
    model, optimizer = stepped()
    old = []
    for parameter in model.parameters():
        old.append(parameter.data)
        parameter.data = parameter.data.clone()
    return *train(model, optimizer, 1), old


def data_moved():
    model, optimizer = stepped()
    for parameter in model.parameters():
        parameter.data = parameter.data.to("cpu")
    kept = [torch.empty(64, 64, device="cuda") for _ in range(8)]  # not to the same addresses
    for parameter in model.parameters():
        parameter.data = parameter.data.to("cuda")
    return *train(model, optimizer, 1), kept


def tensors_swapped():
    model, optimizer = stepped()
    old = []
    for parameter in model.parameters():
        parameter.grad = None
        other = nn.Parameter(parameter.detach().clone())
        torch.utils.swap_tensors(parameter, other)
        old.append(other)
    return *train(model, optimizer, 1), old


def states_replaced():
    model, optimizer = stepped()
    old = []
    for state in optimizer.state.values():
        old.append(state["exp_avg"])
        state["exp_avg"] = state["exp_avg"].clone()
    return *train(model, optimizer, 1), old


def states_data_replaced():
    model, optimizer = stepped()
    old = []
    for state in optimizer.state.values():
        old.append(state["exp_avg"].data)
        state["exp_avg"].data = state["exp_avg"].data.clone()
    return *train(model, optimizer, 1), old


def states_offloaded():
    model, optimizer = stepped()
    for device in ("cpu", "cuda"):
        for state in optimizer.state.values():
            for key in ("exp_avg", "exp_avg_sq"):
                state[key].data = state[key].data.to(device)
        kept = [torch.empty(64, 64, device="cuda") for _ in range(8)]
    return *train(model, optimizer, 1), kept


def states_of_later_parameters():
    """Which get their first gradient when the others have had many."""
    model = Net().cuda()
    model.norm.requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        step(model, optimizer)
    model.norm.requires_grad_(True)
    return train(model, optimizer, 1)


def states_in_lists():
    """A list grows, and an item of it is replaced."""
    class Listing(torch.optim.SGD):
        def step(self, closure=None):
            for parameter in self.param_groups[0]["params"]:
                past = self.state[parameter].setdefault("past", [])
                if len(past) == 2:
                    old.append(past.pop())
                past.append(parameter.grad.clone())

    old = []
    model = Net().cuda()
    return *train(model, Listing(model.parameters(), lr=0.1), 5), old


def optimizer_swapped():
    model, optimizer = stepped()
    for _ in range(3):
        del optimizer
        optimizer = torch.optim.AdamW(model.parameters())
        step(model, optimizer)
    know(model, optimizer)
    return model, optimizer


def sharded():
    """DTensors, whose own memory is replaced with the old one alive."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0,
                                         world_size=1)
    mesh = init_device_mesh("cuda", (1,))

    def distributed(local):
        return DTensor.from_local(local, mesh, [Replicate()], run_check=False)

    weights = [nn.Parameter(distributed(torch.zeros(64, 64, device="cuda"))) for _ in range(3)]
    optimizer = torch.optim.AdamW(weights)
    old = []

    def step():
        for weight in weights:
            weight.grad = distributed(torch.ones(64, 64, device="cuda"))
        optimizer.step()

    for _ in range(3):
        step()
    for parameter in weights:
        held = [parameter] + [optimizer.state[parameter][key] for key in ("exp_avg", "exp_avg_sq")]
        for tensor in held:
            old.append(tensor._local_tensor)
            tensor._local_tensor = tensor._local_tensor.clone()
    step()
    for number, parameter in enumerate(weights):
        name = f"param_groups[0].params[{number}]"
        facts["tensors"][address(parameter._local_tensor)] = ["parameter", name, "float32"]
        for key in ("exp_avg", "exp_avg_sq"):
            tensor = optimizer.state[parameter][key]._local_tensor
            facts["tensors"][address(tensor)] = ["optimizer_state", name, key]
        facts.setdefault("gradients", {})[address(parameter.grad._local_tensor)] = name
    return weights, optimizer, old


def gradients_replaced():
    """Those of backward, others that the program makes of them, and some at the same place."""
    model, optimizer = stepped()
    old = []
    for number in range(3):
        model(batch()).square().mean().backward()
        for parameter in model.parameters():
            if number == 0:
                old.append(parameter.grad)
                parameter.grad = parameter.grad.clone()
            elif number == 1:
                parameter.grad = None
                parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        gradients = facts.setdefault("gradients at steps", [])
        gradients.append({address(parameter.grad): name
                          for name, parameter in model.named_parameters()})
        optimizer.zero_grad()
    return model, optimizer, old


def main():
    torch.manual_seed(0)
    kept = globals()[sys.argv[1]]()
    with open(sys.argv[2], "w") as file:
        json.dump(facts, file)
    del kept


if __name__ == "__main__":
    main()
