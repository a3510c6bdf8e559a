# SPDX-License-Identifier: Apache-2.0
"""torch.compile: the same graphs, graph breaks and recompilations bare and under memtrace."""

import itertools
import re

import pytest

from observed import said_the_same

pytestmark = pytest.mark.usefixtures("built")

SLOW = [("eager", "agent-first"), *itertools.product(("aot_eager", "inductor"), ("agent-first", "agent-between"))]


def compile_twice(tmp_path, backend, order):
    # On standard error are PyTorch's own log lines, with times and process ids.
    said = said_the_same(tmp_path, "compiles", backend, order, compare_stderr=False)
    graphs = [int(count) for count in re.findall(r"graphs: \[(\d+),", said)]
    assert sum(graphs) >= 9
    assert "Call to `torch._dynamo.graph_break()`" in said  # one that the program asks for
    if order == "agent-between":
        assert graphs[2:] == [0, 0]  # nothing is compiled again


def test_graphs(tmp_path):
    compile_twice(tmp_path, "eager", "agent-between")


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "order"), SLOW)
def test_backends(tmp_path, backend, order):
    compile_twice(tmp_path, backend, order)
