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
