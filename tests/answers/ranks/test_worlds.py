# SPDX-License-Identifier: Apache-2.0
"""A few ranks of a world, run as if all were there, do what they do in the whole one."""

import json
import signal
import subprocess
import sys

import pytest

import rank_runs
import runs

# What is alike at all ranks, sharded, split, staged, exchanged and gathered.
QUICK = ["two_dimensions:4"]
SLOW = ["ddp:4", "fsdp1:4", "fsdp2:8", "hsdp:4", "tensor_parallel:4", "pipeline:4", "experts:4", "ring:4",
        "sharded_optimizer:4", "evaluation:4", "experts:8", "fsdp2:2"]


@pytest.mark.parametrize("scenario", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)])
def test_ranks_allocate_what_they_do_in_the_whole_world(built, tmp_path, scenario):
    size = int(scenario.split(":")[1])
    [whole] = rank_runs.run(tmp_path / "whole", [scenario], devices=size)
    some = rank_runs.run_part(tmp_path / "some", scenario, "0,last")
    assert [rank.said["rank"] for rank in some] == [0, size - 1]
    for rank in some:
        same = whole[rank.said["rank"]]
        assert len(same.sizes()) > 200
        assert rank.sizes() == same.sizes()
        assert rank.said["outside"] == same.said["outside"]  # the driver's context, NCCL's buffers


@pytest.mark.slow
def test_a_world_of_thousands_is_as_quick_and_holds_its_share(built, tmp_path):
    program = tmp_path / "sharded.py"
    program.write_text(SHARDED)
    done = runs.run([runs.python(), program], tmp_path / "out", gpu=rank_runs.GPU, world=(4096, "0,7,last")).expect(0)
    # 4096 rows of 1024 float32, one row a rank.
    assert sorted(done.stdout.decode().split()) == ["0:4096", "4095:4096", "7:4096"]
    said = runs.report(done.traces, tmp_path)
    assert said["played_ranks"] == 4093
    assert said["missing_ranks"] == []
    assert {row["world_size"] for row in said["ranks"]} == {4096}


SHARDED = """
import os
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.Linear(1024, 4096, bias=False).cuda()
fully_shard(model)
model(torch.ones(1, 1024, device="cuda")).sum().backward()
own = sum(one.to_local().nbytes for one in model.parameters())
print(f"{dist.get_rank()}:{own}\\n", end="", flush=True)
dist.destroy_process_group()
"""


OBJECTS = """
import datetime
import os
import torch
import torch.distributed as dist

dist.init_process_group(os.environ["BACKEND"], timeout=datetime.timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank % 8)
options = dist.ProcessGroupNCCL.Options()
halves = [dist.new_group(range(begin, begin + 8), backend="nccl", pg_options=options) for begin in (0, 8)]
ends = dist.new_group([0, 15], backend="nccl", pg_options=options)

told = [None] * size
dist.all_gather_object(told, rank)
assert told == [0] + [rank] * 14 + [15], told
told = [None] * size if rank == 0 else None
dist.gather_object({"of": rank}, told, dst=0)
assert told is None or told == [{"of": 0}] * 15 + [{"of": 15}]
choice = [{"length": 64}] if rank == 0 else [None]
dist.broadcast_object_list(choice, src=0)
assert choice == [{"length": 64}]
part = [None]
dist.scatter_object_list(part, [{"to": one} for one in range(size)] if rank == 0 else [None] * size, src=0)
assert part == [{"to": rank}]

other = torch.zeros(4, device="cuda")
if rank == 15:
    dist.send(torch.ones(4, device="cuda"), 0)
    dist.recv(other, 9)  # it does not run: unknown
else:
    dist.recv(other, 15)
    assert other.tolist() == [1, 1, 1, 1]
    dist.send(other, 9)
both = torch.ones(1, device="cuda")
dist.all_reduce(both, group=ends)
assert both.item() == 2
dist.monitored_barrier() if "gloo" in os.environ["BACKEND"] else dist.barrier()
print("so far", flush=True)
first = rank // 8 * 8
dist.broadcast_object_list([{"length": 64}] if rank == first else [None], src=first, group=halves[rank // 8])
"""


@pytest.mark.parametrize("backend", ["nccl", pytest.param("cpu:gloo,cuda:nccl", marks=pytest.mark.slow)])
def test_ranks_that_run_exchange_and_an_object_from_another_is_one_sentence(built, tmp_path, backend):
    program = tmp_path / "objects.py"
    program.write_text(OBJECTS)
    folder = tmp_path / "site"
    folder.mkdir()
    # The environment's own sitecustomize runs as ever.
    (folder / "sitecustomize.py").write_text("import sys\nsys.stderr.write('of the environment\\n')\n")
    done = runs.run([runs.python(), program], None, gpu=rank_runs.GPU, world=(16, "0,last"),
                    env={"PYTHONPATH": str(folder), "BACKEND": backend})
    assert done.stdout.count(b"so far") == 2, done.stderr.decode()
    assert done.status == 1
    assert b"memtrace: this object comes from rank 8, which does not run: name it in --ranks, too" in done.stderr
    assert done.stderr.count(b"of the environment\n") >= 2


STARTS_RANKS = """
import torch
import torch.distributed as dist
import torch.multiprocessing

def work(rank):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=4)

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=4)
"""


@pytest.mark.slow
def test_a_program_that_starts_ranks_itself_is_told_so(built, tmp_path):
    program = tmp_path / "starts.py"
    program.write_text(STARTS_RANKS)
    done = runs.run([runs.python(), program], None, world=(4, "0"))
    assert done.status == 1
    assert b"it starts the ranks itself, so leave torchrun, accelerate launch and mp.spawn out" in done.stderr


def test_a_python_that_does_not_read_it_is_told_of(built, tmp_path):
    done = runs.run([runs.python(), "-I", "-c", "import torch"], None, world=(4, "0"))
    assert done.status == 0
    assert b"the ranks that do not run cannot be played" in done.stderr


@pytest.mark.parametrize("status, options, says", [
    (2, ["--ranks", "0"], "--ranks takes ranks of a world: say how many it has, as in --world-size 512"),
    (1, ["--world-size", "8", "--ranks", "0,8"], '"8" is no rank of a world of 8: say numbers from 0 to 7, 0-3 or last'),
    (1, ["--world-size", "8", "--ranks", "last-0"], '"last-0" is no rank of a world of 8'),
    (1, ["--world-size", "8", "--ranks", ""], '"" is no rank of a world of 8'),
    (1, ["--world-size", "512", "--ranks", "0-99"], "100 ranks are more than the 64 that run side by side"),
    (1, ["--world-size", "8", "--devices", "0"], "a rank needs a GPU: leave out --devices 0"),
])
def test_what_cannot_be_run_is_one_sentence(built, status, options, says):
    done = runs.memtrace_says("dry-run", *options, "--bare", "--", sys.executable, "-c", "pass")
    assert done.returncode == status
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_torchrun_is_left_out(built):
    done = runs.memtrace_says("dry-run", "--world-size", "8", "--bare", "--", "torchrun", "train.py")
    assert done.returncode == 1
    assert "memtrace starts the ranks itself" in done.stderr


def test_where_one_rank_fails_the_others_end(built):
    program = "import os, sys, time\nif os.environ['RANK'] == '3': sys.exit(7)\ntime.sleep(600)\n"
    done = runs.memtrace_says("dry-run", "--world-size", "4", "--ranks", "0-3", "--bare", "--",
                              sys.executable, "-c", program)
    assert done.returncode == 7


def test_a_rank_that_does_not_end_is_killed_and_nothing_stays(built, tmp_path):
    program = ("import os, signal, sys, time\n"
               "if os.environ['RANK'] == '3': time.sleep(1); sys.exit(7)\n"
               "signal.signal(signal.SIGTERM, lambda *_: None)\nwhile True: time.sleep(1)\n")
    line, _ = runs.command_line([sys.executable, "-c", program], None, world=(4, "0,3"))
    done = subprocess.run(line, env=runs.environment({"TMPDIR": str(tmp_path)}), timeout=120, check=False)
    assert done.returncode == 7
    assert list(tmp_path.glob("memtrace-*")) == []


def test_a_signal_leaves_nothing(built, tmp_path):
    line, _ = runs.command_line([sys.executable, "-c", "import time\nprint('up', flush=True)\ntime.sleep(600)"], None,
                                world=(4, "0"))
    with subprocess.Popen(line, env=runs.environment({"TMPDIR": str(tmp_path)}), stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        assert list(tmp_path.glob("memtrace-*")) != []
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
    assert list(tmp_path.glob("memtrace-*")) == []


FITTED = """
import argparse
import os
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

batch = argparse.ArgumentParser()
batch.add_argument("--batch-size", type=int)
batch = batch.parse_args().batch_size
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).cuda()
for layer in model:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(batch, 4096, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.slow
def test_the_largest_batch_of_one_rank_fits_and_one_more_does_not(built, tmp_path):
    program = tmp_path / "fitted.py"
    program.write_text(FITTED)
    said = tmp_path / "fit.json"
    done = runs.memtrace_says("fit", "--gpu", "rtx3090:2GiB", "--batch", "--batch-size {}", "--multiple", "64", "--no-cache",
                              "--world-size", "64", "--rank", "last", "--no-advice", "--json", said, "--",
                              runs.python(), program)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(said.read_text())["rows"]
    largest = row["largest_batch"]
    assert largest >= 64
    for batch, status in ((largest, 0), (largest + 64, 1)):
        one = runs.run([runs.python(), program, "--batch-size", batch], None, gpu="rtx3090", memory="2GiB",
                       world=(64, "last"))
        assert one.status == status, one.stderr.decode()[-2000:]


def test_fit_takes_one_rank(built):
    done = runs.memtrace_says("fit", "--gpu", "rtx3090", "--batch", "--batch-size {}", "--rank", "3", "--",
                              sys.executable, "-c", "pass")
    assert done.returncode == 2
    assert "--world-size" in done.stderr
