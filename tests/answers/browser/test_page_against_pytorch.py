# SPDX-License-Identifier: Apache-2.0
"""The blocks and the timeline of a page are those that PyTorch's own recorder saw in the same run: read from the file alone."""

import pickle
from itertools import accumulate

import pytest

import page_contents
import page_files
import programs
import runs

# One defers frees between streams, one ends by running out of memory.
PROGRAMS = {"transformer_adamw": 0, "side_streams": 0, "out_of_memory": 1}
ROUNDED_TO = 512  # and a block that is a little larger is not split


class Seen:
    def __init__(self, program: str, folder):
        truth = folder / "truth.pickle"
        runs.run([runs.python(), runs.ROOT / "tests/trace/training/recorded_by_pytorch.py", truth,
                  programs.path(program)], folder / "trace").expect(PROGRAMS[program])
        page = folder / "page.html"
        page_files.called(runs.memtrace(), "report", *runs.traces_in(folder / "trace"), "--html", page)
        with open(truth, "rb") as file:
            self.truth = pickle.load(file)
        self.facts = page_contents.facts(page)
        self._columns = page_contents.all_columns(page)
        self.events = [one for one in self.truth["device_traces"][0] if one["action"] in ("alloc", "free_requested")]

    def column(self, name: str) -> list:
        return self._columns[name]

    def stack(self, node: int) -> list[tuple]:
        """Innermost first."""
        texts, found = self.facts["texts"], []
        while node:
            frame = self.column("stacks/frame")[node]
            found.append((texts[self.column("frames/file")[frame]], self.column("frames/line")[frame],
                          texts[self.column("frames/function")[frame]]))
            node = self.column("stacks/parent")[node]
        return found

    def blocks(self, *names: str) -> list[tuple]:
        return list(zip(*(self.column(f"0/blocks/{name}") for name in names)))


@pytest.fixture(scope="module", params=PROGRAMS)
def seen(request, built, tmp_path_factory):
    return Seen(request.param, tmp_path_factory.mktemp(request.param))


def test_every_allocation_is_a_block(seen):
    """With its address, the bytes that were asked for, and its call stack, in PyTorch's order."""
    wanted = [one for one in seen.events if one["action"] == "alloc"]
    assert len(wanted) > 200
    assert seen.column("0/left_out/blocks") == []
    found = sorted(seen.blocks("born_event", "address", "requested", "bytes", "stream", "stack"))[:len(wanted)]
    for truth, (_, address, requested, size, stream, node) in zip(wanted, found, strict=True):
        assert (truth["addr"], truth["size"]) == (address, requested)
        assert size >= requested and size % ROUNDED_TO == 0
        assert truth["stream"] == seen.facts["histories"][0]["streams"][stream]
        frames = [(one["filename"], one["line"], one["name"]) for one in truth["frames"]]
        assert seen.stack(node) == frames


def test_every_block_ends_where_it_was_freed(seen):
    wanted = [one["addr"] for one in seen.events if one["action"] == "free_requested"]
    assert len(wanted) > 200
    found = sorted(seen.blocks("died_event", "address"))[:len(wanted)]
    assert [address for _, address in found] == wanted


def test_the_timeline_is_the_sum_of_what_lived(seen):
    """At each of its moments; its highest is PyTorch's own peak."""
    changes = sorted([(born, size) for born, size in seen.blocks("born_event", "bytes")]
                     + [(died, -size) for died, size in seen.blocks("died_event", "bytes")])
    after = dict(zip((event for event, _ in changes), accumulate(size for _, size in changes)))
    moments = list(zip(seen.column("0/timeline/event"), seen.column("0/timeline/allocated")))
    assert len(moments) > 100
    assert [after[event] for event, _ in moments] == [allocated for _, allocated in moments]
    stats = seen.truth["memory_stats"][0]
    assert max(allocated for _, allocated in moments) == stats["allocated_bytes.all.peak"]
    assert max(seen.column("0/timeline/reserved_most")) == stats["reserved_bytes.all.peak"]
