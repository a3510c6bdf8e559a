# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own graphs as witnesses of the tensors that compiled code returns and makes.

Read while Inductor compiles, from the graphs themselves: the outputs of each partitioned graph (the
partitioner's list of what forward saves is a part of them), and the nodes that Inductor's
intermediate representation names as the origins of each buffer.
"""

import operator
import os
import re

import torch
from torch._inductor import compile_fx
from torch._inductor.graph import GraphLowering

FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')


def frames_of(node) -> list:
    """[file, line] of the lines that called each other, the innermost first."""
    found = FRAME.findall(node.meta.get("stack_trace") or "")
    return [[os.path.abspath(file), int(line)] for file, line in reversed(found)]


def module_of(node) -> str | None:
    """The innermost module as Dynamo names it: L['self'].blocks.0.attn"""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    return str(list(stack.values())[-1][0]) if stack else None


def facts_of(node) -> dict:
    return {"node": node.name, "frames": frames_of(node), "module": module_of(node)}


def _shares_storage_with_input(target) -> bool:
    if target in (torch.ops.aten._unsafe_view.default, torch.ops.aten.reshape.default):
        return True
    arguments = target._schema.arguments if isinstance(target, torch._ops.OpOverload) else ()
    return bool(arguments) and arguments[0].alias_info is not None and not arguments[0].alias_info.is_write


def chain_of(node) -> list[dict]:
    """The node, and what it is a view of, back to the node that made the memory."""
    chain = []
    while isinstance(node, torch.fx.Node) and node.op == "call_function":
        chain.append(facts_of(node))
        if node.target is not operator.getitem and not _shares_storage_with_input(node.target):
            return chain
        node = node.args[0]
    return [] if isinstance(node, torch.fx.Node) and node.op == "placeholder" else chain


def outputs_of(graph) -> list[list[dict]]:
    """For each output of the graph its chain; empty for inputs that are handed on."""
    output = graph.find_nodes(op="output")[0]
    return [chain_of(one) for one in torch.utils._pytree.tree_leaves(output.args[0])]


class Compilations:
    """`outputs`: id of a compiled graph -> its outputs; `buffers`: name of the wrapper's file ->
    buffer -> the nodes it comes from."""

    def __init__(self):
        self.outputs = {}
        self.kinds = {}
        self.kept = []  # so that no id is used twice
        self.buffers = {}
        self._watch_graphs()
        self._watch_buffers()

    def _watch_graphs(self) -> None:
        compile_graph = compile_fx._compile_fx_inner

        def compile_and_tell(graph_module, *arguments, **how):
            outputs = outputs_of(graph_module.graph)
            compiled = compile_graph(graph_module, *arguments, **how)
            self.kept.append(compiled)
            self.outputs[id(compiled)] = outputs
            self.kinds[id(compiled)] = ("backward" if how.get("is_backward") else
                                        "inference" if how.get("is_inference") else "forward")
            return compiled

        compile_fx._compile_fx_inner = compile_and_tell

    def _watch_buffers(self) -> None:
        load = GraphLowering.compile_to_module

        def load_and_tell(graph):
            module = load(graph)
            file = getattr(module, "__file__", None)
            if file:
                self.buffers.setdefault(os.path.basename(file), {}).update(
                    {name: origins_of(buffer) for name, buffer in graph.name_to_buffer.items()})
            return module

        GraphLowering.compile_to_module = load_and_tell


def origins_of(buffer) -> list[dict]:
    nodes = [node for node in buffer.get_origins() if node.op == "call_function"]
    return [facts_of(node) for node in sorted(nodes, key=lambda node: node.name)]
