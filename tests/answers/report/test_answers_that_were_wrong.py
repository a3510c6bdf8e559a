# SPDX-License-Identifier: Apache-2.0
"""Small programs of kinds that once got a wrong answer, or none. What is right is known from reading each program, from
PyTorch's own counters and messages, or from a second run."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

import programs
import recordings
import runs

OUT_OF_MEMORY = runs.ROOT / "tests/answers/advice/out_of_memory"
MIB = 1 << 20


def written(folder: Path, name: str, text: str) -> Path:
    program = folder / f"{name}.py"
    program.write_text(text)
    return program


def recorded(folder: Path, name: str, text: str, *arguments: object, status: int = 0, **how) -> recordings.Recording:
    environment = {"OMP_NUM_THREADS": "1", **how.pop("env", {})}
    found = recordings.record(written(folder, name, text), *arguments, env=environment, **how)
    return found.expect(status)


def at_the_peak(report: dict) -> dict[str, int]:
    return {row["category"]: row["bytes"] for row in report["devices"][0]["at_peak"]["categories"]}


def ids(report: dict) -> list[str]:
    return [one["id"] for one in report["advice"]]


ENDLESS = """
import torch
class Recorder:
    def __init__(self):
        self.{items} = []
        self.{other} = 8
    def add(self, item):
        self.{items}.append(item)
        if len(self.{items}) >= 100:
            {items} = self.{items}[-100:]
            print(len({items}))
model = torch.nn.Linear(512, 512).cuda()
recorder = Recorder()
with torch.no_grad():
    for step in range(130):
        recorder.add(model(torch.randn(256, 512, device="cuda")))
"""


@pytest.mark.parametrize("items, other", [("items", "pool_size"), ("items", "other"), ("pool", "maximum")])
def test_a_slice_that_only_a_local_name_gets_bounds_nothing(built, tmp_path, items, other):
    """The list itself goes on growing; neither its name nor a number beside it changes that."""
    found = recorded(tmp_path, "records", ENDLESS.format(items=items, other=other), gpu="t4")
    device = next(one for one in found.report()["verdicts"] if one["subject"] == "device:0")
    assert device["answer"] == "accumulates" and device["bound"] is None
    assert device["bytes_per_step"] == pytest.approx(256 * 512 * 4, rel=0.02)
    assert device["culprits"][0]["retained_by"][0]["path"].startswith(f"recorder.{items}")
    assert runs.memtrace_says("check", "--no-leaks", *found.traces).returncode == 1


FILLS = """
import torch
LIMIT = 40
model, kept = torch.nn.Linear(512, 512).cuda(), []
with torch.no_grad():
    for step in range(36):
        kept.append(model(torch.randn(256, 512, device="cuda")))
        if len(kept) > LIMIT:
            kept.pop(0)
"""


def test_what_becomes_of_the_file_later_changes_no_answer(built, tmp_path):
    """The proof is read in the text that ran: not in what stands there when the report is made."""
    program = written(tmp_path, "fills", FILLS)
    trace, = runs.run([runs.python(), program], tmp_path / "traces").expect(0).traces
    before = runs.memtrace_says("report", trace).stdout
    assert re.search(r"which the program bounds\s+at 40 \(fills\.py:8", before)
    program.write_text(FILLS.replace("LIMIT = 40", "LIMIT = 4000").replace("kept.pop(0)", "pass"))
    assert runs.memtrace_says("report", trace).stdout == before
    program.rename(tmp_path / "moved.py")
    assert runs.memtrace_says("report", trace).stdout == before


@pytest.mark.parametrize("command", ["report", "check"])
def test_of_two_runs_in_a_folder_the_second_is_told_and_that_there_are_two(built, tmp_path, command):
    for name in ("first", "second"):
        program = written(tmp_path, name, "import torch\ntorch.empty(1 << 20, device='cuda')\n")
        runs.run([runs.python(), program], tmp_path / "traces").expect(0)
    limit = ["--max-peak", "1GiB"] if command == "check" else []
    told = runs.memtrace_says(command, *limit, tmp_path / "traces")
    assert "2 runs" in told.stderr
    if command == "check":  # a limit that the first breaks must not go unseen
        assert told.returncode != 0 and not told.stdout
        return
    assert told.returncode == 0 and "second.py" in told.stdout + told.stderr and "first.py" not in told.stdout + told.stderr


def test_rate_and_forecast_are_the_device_s_where_sites_have_a_part_each(built):
    """Weights, outputs and gradients of each step stay, so that no line has all of what a step adds."""
    found = recordings.record(runs.ROOT / "tests/corpus/programs/leak_create_graph.py", "--steps", "60").expect(0)
    report = found.report()
    device = next(one for one in report["verdicts"] if one["subject"] == "device:0")
    assert 0 < device["culprits"][0]["share"] < 0.9
    free = report["devices"][0]["capacity_bytes"] - report["devices"][0]["peak_allocated_bytes"]
    assert device["steps_to_oom"] == pytest.approx(free / device["bytes_per_step"], rel=0.05)
    said = re.search(r"accumulates ([\d.]+) KiB a step: out of memory in about ([\d,]+) steps",
                     runs.report_text(found.traces))
    assert float(said[1]) == pytest.approx(device["bytes_per_step"] / 1024, rel=0.01)
    assert int(said[2].replace(",", "")) == device["steps_to_oom"]


TAGS = """
import torch
from torch import nn
words, lstm, head = nn.Embedding(2000, 512), nn.LSTM(512, 1024, 2, batch_first=True), nn.Linear(1024, 2000)
model = nn.ModuleList([words, lstm, head]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(12):
    tokens = torch.randint(0, 2000, (16, 64), device="cuda")
    loss = nn.functional.cross_entropy(head(lstm(words(tokens))[0]).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(sum(one.numel() * 4 for one in model.parameters()))
"""


def test_the_flat_copy_of_a_recurrent_layer_s_weights_counts_once(built, tmp_path):
    found = recorded(tmp_path, "tags", TAGS, gpu="t4")
    report = found.report()
    weights = int(found.stdout)
    assert 0 <= at_the_peak(report)["weights"] - weights < 32 * 512  # each block is whole units of 512 bytes
    more = re.search(r"^More than expected: .*", runs.report_text(found.traces), re.MULTILINE)
    assert more is None or "weights" not in more[0]


def test_a_request_that_failed_in_pieces_has_its_change_and_its_cause(built):
    found = recordings.record(programs.path("in_pieces"), memory="880MiB").expect(1)
    diagnosis, = found.report()["fragmentation"]
    assert diagnosis["cause"] != "none" and diagnosis["at_out_of_memory"]["request_bytes"] == 300 * MIB
    text = runs.report_text(found.traces)
    # test_headline.py carries it out.
    setting = re.search(r"fix\s+\(checked\s+by\s+replay\): (PYTORCH_CUDA_ALLOC_CONF=\S+)", text)[1]
    assert setting in text.split("What to change")[1]
    assert "Host memory" not in text and "Cause: none" not in runs.memtrace_says(
        "report", *found.traces, "--by", "fragmentation").stdout


ADAM = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(16)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(8, 4096, device="cuda")).sum().backward()
optimizer.step()
"""


def test_states_of_a_first_step_that_failed_are_no_temporaries(built, tmp_path):
    """Both moments of each parameter are there before the first of foreach's temporaries is asked for."""
    found = recorded(tmp_path, "adam", ADAM, memory="5GiB", status=1)
    report = found.report()
    said = at_the_peak(report)
    assert said["optimizer_states"] == 2 * said["weights"] == 2 * 16 * (4096 * 4096 + 4096) * 4
    assert report["advice"][0]["id"] == "optimizer_fused" and report["advice"][0]["mends_out_of_memory"]
    assert re.search(r"What to change.*\n +1\. `fused=True`", runs.report_text(found.traces))


def retries() -> recordings.Recording:
    return recordings.record(OUT_OF_MEMORY / "retries_inside.py", memory="8GiB").expect(1)


def test_the_request_that_is_told_is_that_of_the_last_traceback(built):
    """It was caught many times before; what ended the program is the last one."""
    found = retries()
    error = found.stderr.decode()
    line = re.findall(r'retries_inside\.py", line (\d+)', error)[-1]
    size = re.findall(r"Tried to allocate ([\d.]+) MiB", error)[-1]
    assert found.report()["headline"]["text"].startswith(
        f"OUT OF MEMORY · {float(size):g} MiB refused at retries_inside.py:{line} · ")


def in_a_terminal(columns: int, *command: object) -> list[str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    line = [str(runs.memtrace()), *map(str, command)]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=runs.environment({"TERM": "xterm"})):
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return re.sub(r"\x1b\[[\d;]*m", "", said.decode()).splitlines()


def test_in_80_columns_the_line_that_failed_and_what_comes_next_are_whole(built):
    found = retries()
    lines = in_a_terminal(80, "report", *found.traces)
    assert 10 < len(lines) and max(map(len, lines)) <= 80
    whole = " ".join(" ".join(lines).split())
    assert whole.startswith(found.report()["headline"]["text"])
    assert re.search(r"tried to allocate 16 MiB at retries_inside\.py:\d+ evaluate", whole)
    assert whole.endswith("--by module (or advice, site, step); --json FILE")


KEEPS_GRADIENTS = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
    {kept}
    optimizer.step()
    optimizer.zero_grad(set_to_none={none})
"""


@pytest.mark.parametrize("kept, none, is_advised", [
    ("kept = [one.grad for one in model.parameters()]", True, False), ("kept = None", False, True)])
def test_set_to_none_is_no_cure_for_gradients_that_a_list_keeps(built, tmp_path, kept, none, is_advised):
    report = recorded(tmp_path, "keeps_gradients", KEEPS_GRADIENTS.format(kept=kept, none=none)).report()
    assert at_the_peak(report)["gradients"] > 16 * 2048 * 2048 * 4
    assert ("set_to_none" in ids(report)) == is_advised


GRAPH = """
import torch
from torch import nn
class GraphTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.left, self.right = nn.Linear(512, 64), nn.Linear(64, 1), nn.Linear(64, 1)
    def forward(self, nodes, edges):
        nodes = self.linear(nodes)
        scores = nn.functional.leaky_relu(self.left(nodes) + self.right(nodes).mT)
        return scores.masked_fill(edges == 0, -9e15).softmax(-1) @ nodes
model = GraphTransformer().cuda()
nodes, edges = torch.randn(4096, 512).cuda(), torch.ones(4096, 4096).cuda()
for step in range(12):
    model(nodes, edges).square().mean().backward()
"""
PICTURES = """
import torch
from torch import nn
class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inwards, self.qkv, self.out = nn.Conv2d(3, 64, 4, 2, 1), nn.Conv2d(64, 192, 1), nn.Conv2d(64, 3, 1)
    def forward(self, pictures):
        query, key, value = self.qkv(self.inwards(pictures)).flatten(2).chunk(3, 1)
        scores = (query.mT @ key / 8).softmax(-1)
        return self.out((value @ scores.mT).unflatten(-1, (32, 32)))
model = SpatialTransformer().cuda()
for step in range(12):
    model(torch.randn(16, 3, 64, 64, device="cuda")).square().mean().backward()
"""
CACHE = """
import torch
from torch import nn
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(1024, 3072)
        self.register_buffer("k_cache", torch.zeros(16, 4096, 1024))
        self.register_buffer("v_cache", torch.zeros(16, 4096, 1024))
    def forward(self, x, at):
        query, self.k_cache[:, at], self.v_cache[:, at] = self.qkv(x).chunk(3, -1)
        scores = (query[:, None] @ self.k_cache[:, :at + 1].mT / 32).softmax(-1)
        return (scores @ self.v_cache[:, :at + 1])[:, 0]
model, x = Decoder().cuda().eval(), torch.randn(16, 1024, device="cuda")
with torch.no_grad():
    for at in range(64):
        x = model(x, at)
"""


@pytest.mark.parametrize("text", [GRAPH, PICTURES, CACHE], ids=["graph", "pictures", "preallocated cache"])
def test_where_there_is_no_text_no_shorter_text_is_advised(built, tmp_path, text):
    """Nodes, pictures, and a cache that is as long as the model's positions from the start."""
    report = recorded(tmp_path, "no_text", text, gpu="t4", memory="1GiB").report()
    assert report["devices"][0]["peak_allocated_bytes"] > 100 * MIB
    assert "sequence_length" not in ids(report)


def test_for_text_a_shorter_one_is_advised(built):
    assert "sequence_length" in ids(recordings.record(programs.path("attention_scores")).expect(0).report())


@pytest.mark.parametrize("name", ["attention_scores", "optimizer_temporaries"])
def test_what_is_free_comes_before_what_costs_something(built, name):
    is_free = [one["free"] for one in recordings.record(programs.path(name)).expect(0).report()["advice"]]
    assert {True, False} == set(is_free) and is_free == sorted(is_free, reverse=True)


def test_where_most_of_the_gpu_is_free_nothing_is_to_be_saved(built):
    """A few MiB of 14.75 GiB: neither micro-batches nor empty_cache() are worth a word."""
    found = recordings.record(programs.path("gathered_and_dropped"), gpu="t4", env={"OMP_NUM_THREADS": "1"}).expect(0)
    text = runs.report_text(found.traces)
    assert int(re.match(r"FITS · .*? \((\d+) %\)", text)[1]) < 10
    assert "What to change" not in text and "empty_cache" not in text and "micro-batch" not in text


RESERVES = """
import torch
made = torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
del made
first = torch.empty(700 << 20, dtype=torch.uint8, device="cuda")
second = torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
"""


def test_of_moments_with_as_much_reserved_that_with_most_in_use_is_told(built, tmp_path):
    """As the 700 MiB come, the cache has 600 MiB that serve nobody; they serve the last request."""
    found = recorded(tmp_path, "reserves", RESERVES, memory="4GiB")
    peak = found.report()["devices"][0]["peak_reserved"]
    assert peak["reserved_bytes"] == peak["allocated_bytes"] == 1300 * MIB
    assert re.search(r"peak reserved .*, 0 bytes of it unused", runs.report_text(found.traces))


KEEPS = """
import sys, torch
model, kept = torch.nn.Linear(1024, 1024).cuda(), []
with torch.no_grad():
    for step in range(int(sys.argv[1])):
        kept.append(model(torch.randn(24576, 1024, device="cuda")))
        print(step, flush=True)
"""


@pytest.mark.parametrize("before", [1, 2])
def test_steps_that_are_left_are_those_until_the_one_that_fails(built, tmp_path, before):
    """It ends so many steps before it would fail: it is never "in about 0 steps"."""
    done = len(recorded(tmp_path, "keeps", KEEPS, 40, gpu="t4", memory="2GiB", status=1).stdout.split())
    found = recorded(tmp_path, "keeps", KEEPS, done + 1 - before, gpu="t4", memory="2GiB")
    device = next(one for one in found.report()["verdicts"] if one["subject"] == "device:0")
    assert device["steps_to_oom"] == before
    assert re.search(rf"out of memory in about {before} steps?\b", runs.report_text(found.traces))


SETS_LATE = """
import os, sys, torch
torch.empty(1, device="cuda")
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
torch.empty(1 << 28, device="cuda")
print(torch.cuda.memory._snapshot()["allocator_settings"]["expandable_segments"])
"""


@pytest.mark.parametrize("env, said", [
    ({}, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True has no effect: the program sets it after"),
    ({"PYTORCH_CUDA_ALLOC_CONFIG": "expandable_segments:True"},
     "PYTORCH_CUDA_ALLOC_CONFIG=expandable_segments:True has no effect: PyTorch reads PYTORCH_CUDA_ALLOC_CONF")],
    ids=["too late", "misspelt"])
def test_settings_that_did_not_take_are_told(built, tmp_path, env, said):
    # A warm start gets its variables later than a library reads them.
    found = recorded(tmp_path, "sets_late", SETS_LATE, env=env, cold=True)
    assert found.stdout.split() == [b"False"]  # PyTorch says so itself
    run = found.report()["run"]
    assert any(one.startswith(said) for one in run["settings_without_effect"])
    assert not run["alloc_conf"] and said in " ".join(runs.report_text(found.traces).split())


WITHIN_AN_EPOCH = """
import sys, torch
from torch import nn
model, head = nn.GRUCell(256, 256).cuda(), nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for epoch in range(4):
    state = None
    for step in range(40):
        x = torch.randn(256, 256, device="cuda")
        state = model(x, state)
        if len(sys.argv) > 1:
            state = state.detach()
        loss = (head(state.detach()) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_what_piles_up_within_an_epoch_is_told_with_its_cure(built, tmp_path):
    found = recorded(tmp_path, "within_an_epoch", WITHIN_AN_EPOCH)
    report = found.report()
    said = re.fullmatch(r"fills by ([\d.]+) MiB in about 40 steps and empties, kept by `state`",
                        report["headline"]["text"].split(" · ")[-1])
    verdict = next(one for one in report["verdicts"] if one["subject"] == "device:0")
    assert verdict["answer"] == "steady" and verdict["culprits"][0]["fix"]["id"] == "recurrent_state"
    cured = recorded(tmp_path, "within_an_epoch", WITHIN_AN_EPOCH, "cured").report()
    peaks = [one["devices"][0]["peak_allocated"]["allocated_bytes"] for one in (report, cured)]
    assert (peaks[0] - peaks[1]) / MIB == pytest.approx(float(said[1]), rel=0.1)


DECODES = """
import torch
from torch import nn
class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(512, 64), nn.Linear(64, 512)
    def forward(self, x):
        return self.decoder(self.encoder(x))
model = Vae().cuda()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for _ in range(10):
        model(torch.randn(4096, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        model.decoder(torch.randn(64, 64, device="cuda"))
"""


def test_the_columns_of_modules_add_up(built, tmp_path):
    found = recorded(tmp_path, "decodes", DECODES)
    table = runs.memtrace_says("report", *found.traces, "--by", "module").stdout.splitlines()[1:]
    assert table[0].split() == ["total", "weights", "gradients", "opt.", "states", "activations", "other", "module"]
    assert len(table) > 3
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    for line in table[1:]:
        cells = re.findall(r"([\d.]+) ([KMG]?i?B)(?= )|( -)(?= )", line)[:6]
        total, *parts = (float(number) * units[unit] if unit else 0 for number, unit, _ in cells)
        assert len(parts) == 5 and total and sum(parts) == pytest.approx(total, rel=0.01)


EVALUATES = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 8000)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(2):
    for step in range(6):
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(torch.randn(256, 512, device="cuda")).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        model(torch.randn(32768, 512, device="cuda"))
"""


def test_an_evaluation_under_autocast_is_one(built, tmp_path):
    """While it copies a weight, autocast records gradients in any case."""
    report = recorded(tmp_path, "evaluates", EVALUATES).report()
    device = report["devices"][0]
    phases = {one["phase"]: one["peak_allocated_bytes"] for one in device["phases"]}
    assert phases["evaluation"] == device["peak_allocated_bytes"] > phases["forward"]
    copies = 2 * (512 * 2048 + 2048 * 8000)
    term = next(one for one in device["expected"] if one["term"] == "weight_casts")
    assert term["measured_bytes"] == pytest.approx(copies, rel=0.05)  # as the allocator rounds them


HEAP = """
import time, torch
net, kept = torch.nn.Linear(1024, 8).cuda(), []
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(130):
    x = torch.randn(2048, 1024)  # 8 MiB on the host, and nobody keeps one
    net(x.cuda()).mean().backward()
    optimizer.step()
    kept.append(x.cuda())  # small objects, which lie in what is freed
    time.sleep(0.02)  # for some samples
"""


def test_free_memory_of_malloc_s_heap_is_no_list_that_somebody_keeps(built, tmp_path):
    def host(**environment):
        report = recorded(tmp_path, "heap", HEAP, env=environment).report()
        return next(one for one in report["verdicts"] if one["subject"] == "host")

    grows = host()
    assert grows["answer"] == "accumulates" and grows["fix"]["id"] == "free_heap"
    assert host(MALLOC_MMAP_THRESHOLD_="1048576")["answer"] != "accumulates"


def test_a_cycle_through_autograd_is_told_with_its_cure(built):
    found = recordings.record(runs.ROOT / "tests/corpus/programs/leak_create_graph.py").expect(0)
    device = next(one for one in found.report()["verdicts"] if one["subject"] == "device:0")
    assert device["culprits"][0]["fix"]["id"] == "create_graph_cycle"
    assert "kept by nothing that has a name" in found.report()["headline"]["text"]
