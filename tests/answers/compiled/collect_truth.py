# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled program and collects, from inside, what its GPU memory is.

python collect_truth.py OUT.json KNOWN.json|- PROGRAM [ARGUMENT...]

KNOWN.json: what an earlier process found while it compiled the same program, for a process that
loads everything from Inductor's cache and has no graphs. Graphs are matched by the order in which
they first run, and have to agree in Inductor's key of their code and in the number of outputs.
"""

import gc
import json
import os
import runpy
import sys
import threading
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "programs"), str(HERE), str(HERE.parents[1] / "answers" / "attribution")]

import compiling  # noqa: E402
import running_code as code  # noqa: E402
from allocation_callback import follow_allocations  # noqa: E402
from graph_nodes import Compilations  # noqa: E402
from observe import ROLES, Observation  # noqa: E402
from storages import storage_address  # noqa: E402
from torch._inductor.output_code import CompiledFxGraph  # noqa: E402


class Collector:
    def __init__(self, known: dict | None):
        self.known = known
        self.compilations = Compilations()
        self.names = code.Names()
        self.births: dict[int, int] = {}
        self.blocks: list[dict] = [{}]  # by ordinal
        self.moments: list[dict] = []
        self.graphs: list[dict] = []
        self.order: dict[int, int] = {}  # id of a graph that has run -> its place in graphs
        self.problems: list[str] = []
        self.forwards: list = []  # frames' names of forward graphs whose backward is to come
        self.calls = threading.local()
        self.saw_backward = False

    # -- allocations

    def __call__(self, address: int) -> None:
        frame = sys._getframe(1)
        self.births[address] = len(self.blocks)
        block = {"address": address, "roles": {}}
        buffers = self.known["buffers"] if self.known else self.compilations.buffers
        made = code.generated_buffer(frame, buffers)
        call = getattr(self.calls, "now", None)
        if made and call:
            block["buffer"] = list(made)
            block["origins"] = [self._resolved(one, call) for one in buffers[made[0]].get(made[1], [])]
        elif call is None:
            block["lines"] = code.program_lines(frame)
            module = code.running_module(frame)
            block["module"] = self.names.of(module) if module is not None else None
        self.blocks.append(block)

    # -- compiled graphs

    def _resolved(self, facts: dict, call: dict) -> dict:
        name = facts["module"]
        if name is None:
            where = call["base"]
        else:
            if name not in call["modules"]:
                call["modules"][name] = code.resolve(name, call["frame"], self.names) if call["frame"] else None
            where = call["modules"][name]
        return {"node": facts["node"], "frames": facts["frames"], "module": where}

    def _graph(self, graph) -> dict:
        if id(graph) in self.order:
            return self.graphs[self.order[id(graph)]]
        place = self.order[id(graph)] = len(self.graphs)
        key = getattr(graph, "cache_key", None)
        self.names.known = code._module_names()  # a root may have got a root of its own
        if self.known is None:
            facts = {"key": key, "kind": self.compilations.kinds.get(id(graph), "unknown"),
                     "outputs": self.compilations.outputs.get(id(graph))}
            # The same graph compiled once more, for other guards, is loaded from Inductor's cache.
            same = next((one for one in self.graphs if one["key"] == key and one["outputs"] is not None), None)
            if facts["outputs"] is None and same is not None:
                self.compilations.kept.append(graph)
                facts = same
            if facts["outputs"] is None:
                self.problems.append(f"graph {place} was never seen being compiled")
        else:
            self.compilations.kept.append(graph)
            graphs = self.known["graphs"]
            facts = graphs[place] if place < len(graphs) else {"key": None, "kind": "unknown", "outputs": None}
            if facts["key"] != key:
                self.problems.append(f"graph {place} is {key}, was {facts['key']} in the first process")
                facts = {**facts, "outputs": None}
        self.graphs.append(facts)
        return facts

    def call(self, graph, run, inputs):
        facts = self._graph(graph)
        outer = getattr(self.calls, "now", None)
        if facts["kind"] == "backward" and self.forwards:
            now = self.forwards.pop()
        else:
            frame = code.compiled_frame(sys._getframe(2))
            module = code.running_module(sys._getframe(2))
            now = {"frame": frame, "modules": {}, "base": self.names.of(module) if module is not None else None}
        self.calls.now = now
        try:
            results = run(graph, inputs)
            for chains, result in zip(facts["outputs"] or (), results):
                if chains and isinstance(result, torch.Tensor):
                    self._name_output([self._resolved(one, now) for one in chains], result, facts["kind"])
            if facts["outputs"] is not None and len(facts["outputs"]) != len(results):
                self.problems.append(f"a graph returned {len(results)} of {len(facts['outputs'])} outputs")
        finally:
            self.calls.now = outer
        now["frame"] = None
        if facts["kind"] == "forward":
            self.forwards.append(now)
        return results

    def _name_output(self, chain: list, tensor, kind: str) -> None:
        born = self.births.get(storage_address(tensor))
        if born:
            self.blocks[born]["output"] = chain
            self.blocks[born]["graph"] = kind

    # -- moments

    def look(self, name: str) -> None:
        roles = Observation().roles
        owners = self._owners(roles)
        for address, (role, what) in roles.items():
            born = self.births.get(address)
            if born:
                self.blocks[born]["roles"][role] = what
        for address, found in owners.items():
            born = self.births.get(address)
            if born:
                self.blocks[born]["owners"] = found
        statistics = torch.cuda.memory_stats()
        live = [(block["address"], block["size"]) for segment in torch.cuda.memory_snapshot()
                for block in segment["blocks"] if block["state"] == "active_allocated"]
        self.moments.append({
            "name": name, "allocations": len(self.blocks) - 1, "bytes": torch.cuda.memory_allocated(),
            "frees": statistics["allocation.all.freed"],
            "blocks": [{"address": address, "bytes": size, "born": self.births.get(address, 0),
                        "now": roles.get(address, (None,))[0]} for address, size in live]})

    def _owners(self, roles: dict) -> dict[int, list]:
        """Address of a parameter, its gradient, its states, of a buffer -> the modules that own it."""
        found: dict[int, list] = {}
        parameters: dict[int, list] = {}
        self.names.known = code._module_names()
        for module in code.gc_modules():
            name = self.names.of(module)
            if name is None:
                continue
            for tensor in [*module._parameters.values(), *module._buffers.values()]:
                if tensor is not None:
                    found.setdefault(storage_address(tensor), []).append(name)
                    parameters.setdefault(id(tensor), []).append(name)
                    if tensor.requires_grad and tensor.is_leaf and tensor.grad is not None:
                        found.setdefault(storage_address(tensor.grad), []).append(name)
        for optimizer in [one for one in gc.get_objects() if issubclass(type(one), torch.optim.Optimizer)]:
            for parameter, state in list(optimizer.state.items()):
                for value in list(state.values()) if isinstance(state, dict) else ():
                    if isinstance(value, torch.Tensor) and id(parameter) in parameters:
                        found.setdefault(storage_address(value), []).extend(parameters[id(parameter)])
                    if isinstance(value, torch.Tensor) and roles.get(storage_address(value), ("",))[0] == "buffers":
                        # Dynamo's graph of a compiled step holds the states as its buffers.
                        roles[storage_address(value)] = "optimizer_states", "a compiled step's"
        found.pop(0, None)
        return found

    def tell(self, kind: str, *tensors) -> None:
        if kind == "step":
            self.look("end of step")
            return
        for tensor in tensors:
            born = self.births.get(storage_address(tensor))
            if born:
                self.blocks[born]["told"] = kind


def watch_calls(collector: Collector) -> None:
    run = CompiledFxGraph.__call__

    def call(graph, inputs):
        return collector.call(graph, run, inputs)

    CompiledFxGraph.__call__ = call
    backward = torch.autograd.backward

    look = torch._dynamo.disable(collector.look)  # the program's own backward may be called in compiled code

    def look_and_go_back(*arguments, **named):
        look("end of forward")
        result = backward(*arguments, **named)
        look("end of backward")
        return result

    torch.autograd.backward = look_and_go_back


def hide_own_frames() -> None:
    """The harness's frames are PyTorch's for everybody who tells a program's lines by the file."""
    hidden = torch._utils.__file__
    for function in (Collector.call, Collector.look, CompiledFxGraph.__call__, torch.autograd.backward):
        function.__code__ = function.__code__.replace(co_filename=hidden)


def main() -> None:
    out, known, program, *arguments = sys.argv[1:]
    collector = Collector(json.loads(Path(known).read_text()) if known != "-" else None)
    compiling.tell = collector.tell
    watch_calls(collector)
    hide_own_frames()
    torch.cuda.init()
    follow_allocations(collector)
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        write(Path(out), collector)


def write(path: Path, collector: Collector) -> None:
    for one in ("LOCAL_RANK",):
        if one in os.environ:
            path = path.with_suffix(f".{os.environ[one]}{path.suffix}")
    path.write_text(json.dumps({
        "torch": str(torch.__version__), "process": os.getpid(), "roles": ROLES,
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(), "problems": collector.problems,
        "blocks": collector.blocks, "moments": collector.moments, "graphs": collector.graphs,
        "buffers": collector.compilations.buffers or (collector.known or {}).get("buffers", {})}))


if __name__ == "__main__":
    main()
