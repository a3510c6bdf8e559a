# SPDX-License-Identifier: Apache-2.0
"""torch.compile: the same graphs, graph breaks and recompilations bare and under memtrace."""

import itertools
import json
import re

import pytest

from observed import same

pytestmark = pytest.mark.usefixtures("built")

SLOW = [("eager", "agent-first"), *itertools.product(("aot_eager", "inductor"), ("agent-first", "agent-between"))]


def looked_at_again(stderr: bytes) -> list[int]:
    """Frames that Dynamo looked at again, and graph breaks it found, once the agent has come between."""
    return json.loads(re.search(rb"looked at again: (.*)", stderr)[1])


def compile_twice(tmp_path, backend, order):
    # On standard error are PyTorch's own log lines, with times and process ids.
    pair = same(tmp_path, "compiles", backend, order, compare_stderr=False)
    said = pair.bare.stdout.decode()
    graphs = [int(count) for count in re.findall(r"graphs: \[(\d+),", said)]
    assert sum(graphs) >= 9
    assert "Call to `torch._dynamo.graph_break()`" in said  # one that the program asks for
    if order == "agent-between":
        assert graphs[2:] == [0, 0]  # nothing is compiled again
        # A step of an optimizer that was compiled before the first CUDA event, on the CPU, is guarded
        # by the number of hooks of optimizers: Dynamo looks at the wrapper of that step once more, for
        # each of the two optimizers, and finds the graph break that PyTorch has there. No graph comes
        # of it.
        assert looked_at_again(pair.bare.stderr) == [0, 0]
        frames, breaks = looked_at_again(pair.traced.stderr)
        assert frames <= 2 and breaks <= 2


def test_graphs(tmp_path):
    compile_twice(tmp_path, "eager", "agent-between")


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "order"), SLOW)
def test_backends(tmp_path, backend, order):
    compile_twice(tmp_path, backend, order)
