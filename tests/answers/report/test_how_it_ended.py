# SPDX-License-Identifier: Apache-2.0
"""Whether memory that was refused has ended a program: PyTorch's own allocations, and those of others."""

import pytest

import runs
from test_answers_that_were_wrong import recorded

ASKS_CUDA = """
import ctypes, sys, torch
runtime, into = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
made = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(6)]
del made
if len(sys.argv) > 1:
    torch.cuda.empty_cache()
sys.exit(runtime.cudaMalloc(ctypes.byref(into), ctypes.c_size_t(1 << 30)))
"""


def test_what_cuda_refuses_outside_of_the_pool_is_the_first_line(built, tmp_path):
    """As NCCL is, which PyTorch's allocator knows nothing of; what it says lets it pass."""
    found = recorded(tmp_path, "asks_cuda", ASKS_CUDA, memory="2GiB", status=2)
    first = found.report()["headline"]["text"]
    assert first.startswith("OUT OF MEMORY · 1 GiB refused outside of PyTorch's pool at asks_cuda.py:8")
    assert "1.5 GiB, 1.5 GiB of it unused" in first and "torch.cuda.empty_cache()" in first
    assert recorded(tmp_path, "asks_cuda", ASKS_CUDA, "cured", memory="2GiB").report()["headline"]["state"] != "out_of_memory"


TRIES = """
import sys, torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 8192), torch.nn.ReLU(), torch.nn.Linear(8192, 1024)).cuda()
for batch in (1024, 4096, 16384, 65536):
    try:
        model(torch.randn(batch, 1024, device="cuda")).sum().backward()
    except torch.cuda.OutOfMemoryError:
        sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_program_that_tries_and_ends_well_has_not_run_out_of_memory(built, tmp_path, status):
    found = recorded(tmp_path, "tries", TRIES, status, memory="4GiB", status=status, cold=True)
    report = found.report()
    assert report["run"]["exit_status"] == status
    assert [one["caught"] for one in report["oom"]] == [status == 0]
    assert (report["headline"]["state"] == "out_of_memory") is (status != 0)
    assert ("1 request failed, and the program ended with exit status 0" in report["headline"]["text"]) is (status == 0)
    assert ("exit status 3" in runs.report_text(found.traces)) is (status != 0)


IN_ANOTHER = """
import multiprocessing, sys, threading, torch
from concurrent.futures import ProcessPoolExecutor
def work():
    kept = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(8)]
if __name__ == "__main__":
    if sys.argv[1] == "thread":
        one = threading.Thread(target=work)
        one.start()
        one.join()
    else:  # the worker hands its error on, and ends well
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            pool.submit(work).result()
"""


@pytest.mark.parametrize("kind, status", [("thread", 0), ("process", 1)])
def test_an_error_that_another_thread_or_process_died_of_was_not_caught(built, tmp_path, kind, status):
    found = recorded(tmp_path, "in_another", IN_ANOTHER, kind, memory="1GiB", status=status, cold=True)
    assert found.report()["headline"]["state"] == "out_of_memory"


def test_where_cuda_refuses_others_and_the_program_ends_well_it_was_a_try(built, tmp_path):
    text = ASKS_CUDA.replace("sys.exit(", "(")
    found = recorded(tmp_path, "asks_and_ends", text, memory="2GiB", cold=True)
    assert found.report()["headline"]["state"] != "out_of_memory"


IN_A_PROCESS = """
import multiprocessing, sys, torch
def work():
    model = torch.nn.Linear(512, 512).cuda()
    model(torch.ones(8, 512, device="cuda")).sum().backward()
if __name__ == "__main__":
    one = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    one.start()
    one.join()
    sys.exit(one.exitcode)
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_process_of_multiprocessing_ends_by_itself(built, tmp_path, how):
    """What it has forked ends by os._exit, which runs no exit handler; what it has spawned begins with a line of its own."""
    found = recorded(tmp_path, "in_a_process", IN_A_PROCESS, how, cold=True)
    report = found.report()
    assert report["completeness"]["clean_exit"]
    assert report["headline"]["text"].startswith("FITS") and "killed" not in report["headline"]["text"]
    text = runs.report_text(found.traces)
    assert "in_a_process.py:4 work" in text and "<string>" not in text


LEAVES = """
import os, pickle, sys, threading, torch
kept = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
if sys.argv[1] == "thread":
    threading.Thread(target=lambda: torch.cuda.Event().synchronize() or __import__("time").sleep(60), daemon=True).start()
if sys.argv[1] == "child":
    if (child := os.fork()) == 0:
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
for odd in ("no number", None, 2**40):
    try:
        os._exit(odd)
    except (TypeError, OverflowError):
        pass
assert pickle.loads(pickle.dumps(os._exit)) is os._exit
kept = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
os._exit(status=3) if sys.argv[1] == "keyword" else os._exit(3)
"""


@pytest.mark.parametrize("how", ["alone", "thread", "child", "keyword"])
def test_a_program_that_leaves_at_once(built, tmp_path, how):
    report = recorded(tmp_path, "leaves", LEAVES, how, status=3, cold=True).report()
    assert report["completeness"]["clean_exit"] and report["run"]["exit_status"] == 3
    assert report["devices"][0]["peak_allocated_bytes"] == 192 << 20
