# SPDX-License-Identifier: Apache-2.0
"""Limits that hold and limits that break, at the byte, beside what PyTorch itself counts."""

import re

import pytest

import runs
import suite_runs

pytestmark = pytest.mark.usefixtures("built")

WORK = """
import torch
from torch import nn

def prepared():
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
    x = torch.randn(256, 512, device="cuda")
    model(x).sum().backward()  # cuBLAS takes its workspace now
    model.zero_grad(set_to_none=True)
    return model, x

def work(model, x):
    model(x).square().sum().backward()
"""
TRUTH = """
import torch, work
model, x = work.prepared()
before = torch.cuda.memory_allocated()
torch.cuda.reset_peak_memory_stats()
work.work(model, x)
print("TRUTH", torch.cuda.max_memory_allocated() - before, torch.cuda.memory_allocated() - before)
"""
EXACT = """
from work import prepared, work

PEAK, LEFT = int(os.environ["PEAK"]), int(os.environ["LEFT"])

@pytest.fixture
def made():
    return prepared()

@pytest.mark.limit_gpu_memory(f"{PEAK} B")
def test_at_the_limit(made):
    work(*made)

@pytest.mark.limit_gpu_memory(f"{PEAK - 1} B")
def test_a_byte_over_it(made):
    work(*made)

@pytest.mark.limit_gpu_memory(limit=f"{PEAK * 100 // 102 + 1} B", tolerance="2%")
def test_within_the_tolerance(made):
    work(*made)

@pytest.mark.limit_gpu_memory(f"{PEAK * 100 // 102 - 1} B", tolerance="2 %")
def test_over_the_tolerance(made):
    work(*made)

@pytest.mark.limit_gpu_leaks(f"{LEFT} bytes")
def test_leaves_what_it_may(made):
    work(*made)

@pytest.mark.limit_gpu_leaks(f"{LEFT - 1} bytes")
def test_leaves_a_byte_more(made):
    work(*made)
"""


def test_a_limit_is_exact(tmp_path):
    suite_runs.write(tmp_path, {"work.py": WORK, "truth.py": TRUTH})
    told = runs.run([runs.python(), "truth.py"], None, cwd=tmp_path).expect(0).stdout.decode()
    peak, left = map(int, re.search(r"TRUTH (\d+) (\d+)", told).groups())
    assert peak > left > 0
    done = suite_runs.run(tmp_path, {"test_exact.py": EXACT}, env={"PEAK": str(peak), "LEFT": str(left)})
    assert done.outcomes == {
        "test_at_the_limit": "passed", "test_a_byte_over_it": "failed",
        "test_within_the_tolerance": "passed", "test_over_the_tolerance": "failed",
        "test_leaves_what_it_may": "passed", "test_leaves_a_byte_more": "failed",
    }, done.text
    assert done.status == 1
    message = done.messages["test_a_byte_over_it"]
    assert "peak" in message and f"{peak:,} bytes" in message and "device 0" in message
    assert f"{left:,} bytes" in done.messages["test_leaves_a_byte_more"]
    assert "tolerance of 2 %" in done.messages["test_over_the_tolerance"]


KINDS = """
import asyncio, gc, threading, unittest

KEPT = []

@pytest.fixture
def older():
    return [gpu(64 * MiB)]

@pytest.mark.limit_gpu_memory("20 MiB")
def test_older_blocks_do_not_count(older):
    block = gpu(20 * MiB)

@pytest.mark.limit_gpu_memory("19.99 MiB")
def test_nor_does_their_release(older):
    older.clear()
    block = gpu(20 * MiB)

@pytest.mark.limit_gpu_memory("4 MiB")
def test_everything_freed_in_between():
    for _ in range(5):
        block = gpu(4 * MiB)
        del block

@pytest.mark.limit_gpu_leaks("1 MiB")
def test_a_cycle_is_no_leak():
    class Node: pass
    node = Node()
    node.itself, node.block = node, gpu(8 * MiB)

@pytest.mark.limit_gpu_leaks("1 MB")
def test_a_leak():
    KEPT.append(gpu(MiB))

def test_the_ini_limit_holds():
    block = gpu(100 * MiB)

def test_the_ini_limit_breaks():
    block = gpu(101 * MiB)

@pytest.mark.limit_gpu_memory("200 MiB")
def test_a_marker_goes_before_it():
    block = gpu(101 * MiB)

@pytest.mark.parametrize("size", [10, 30])
@pytest.mark.limit_gpu_memory("20 MiB")
def test_each_parameter(size):
    block = gpu(size * MiB)

@pytest.mark.limit_gpu_memory("20 MiB")
def test_threads_count():
    both = threading.Barrier(3)
    def take():
        block = gpu(10 * MiB)
        both.wait()
    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

@pytest.mark.anyio
@pytest.mark.limit_gpu_memory("20 MiB")
async def test_async():
    block = gpu(20 * MiB)
    await asyncio.sleep(0)
    another = gpu(1)

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.limit_gpu_memory("20 MiB")
class TestGroup:
    @pytest.fixture(scope="class")
    def shared(self):
        return gpu(40 * MiB)

    def test_first(self, shared): gpu(10 * MiB)
    def test_second(self, shared): gpu(21 * MiB)

    @pytest.mark.limit_gpu_memory("1 GiB")
    def test_nearest_marker_counts(self, shared): gpu(21 * MiB)

class TestOfUnittest(unittest.TestCase):
    @pytest.mark.limit_gpu_memory("1 MiB")
    def test_unit_breaks(self): gpu(2 * MiB)

    @pytest.mark.limit_gpu_memory("1 MiB")
    def test_unit_fails_itself(self):
        gpu(2 * MiB)
        self.assertEqual(1, 2)

@pytest.mark.limit_gpu_memory("1 MiB")
def test_own_failure_stays():
    gpu(2 * MiB)
    assert "mine" == "yours"

@pytest.mark.limit_gpu_memory("1 MiB")
def test_skips_itself():
    gpu(2 * MiB)
    pytest.skip("its own reason")

@pytest.mark.skip(reason="never")
@pytest.mark.limit_gpu_memory("1 MiB")
def test_skipped(): pass

@pytest.fixture
def added(request):
    request.node.add_marker(pytest.mark.limit_gpu_memory(request.param))

@pytest.mark.parametrize("added", ["1 MiB", "1"], indirect=True)
def test_a_marker_of_a_fixture(added): gpu(2 * MiB)

@pytest.mark.xfail(reason="known")
@pytest.mark.limit_gpu_memory("1 MiB")
def test_xfail_expects_the_limit(): gpu(2 * MiB)

@pytest.mark.xfail(strict=True)
@pytest.mark.limit_gpu_memory("3 MiB")
def test_xfail_that_passes(): gpu(2 * MiB)

@pytest.mark.xfail(raises=ValueError)
@pytest.mark.limit_gpu_memory("1 MiB")
def test_xfail_of_something_else(): gpu(2 * MiB)
"""


@pytest.fixture(scope="module")
def kinds(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    return suite_runs.run(folder, {"test_kinds.py": KINDS, "pytest.ini":
                               "[pytest]\nmemtrace_limit_gpu_memory = 100 MiB\n"}, "--memtrace", "--memtrace-top=100")


OUTCOMES = {
    "test_older_blocks_do_not_count": "passed", "test_nor_does_their_release": "failed",
    "test_everything_freed_in_between": "passed", "test_a_cycle_is_no_leak": "passed", "test_a_leak": "failed",
    "test_the_ini_limit_holds": "passed", "test_the_ini_limit_breaks": "failed",
    "test_a_marker_goes_before_it": "passed", "test_each_parameter[10]": "passed",
    "test_each_parameter[30]": "failed", "test_threads_count": "failed", "test_async": "failed",
    "test_first": "passed", "test_second": "failed", "test_nearest_marker_counts": "passed",
    "test_unit_breaks": "failed", "test_unit_fails_itself": "failed", "test_own_failure_stays": "failed",
    "test_skips_itself": "skipped", "test_skipped": "skipped", "test_xfail_expects_the_limit": "skipped",
    "test_a_marker_of_a_fixture[1 MiB]": "failed", "test_a_marker_of_a_fixture[1]": "failed",
    "test_xfail_that_passes": "failed", "test_xfail_of_something_else": "failed",
}
BY_LIMIT = {
    "test_nor_does_their_release": "20 MiB", "test_the_ini_limit_breaks": "memtrace_limit_gpu_memory",
    "test_each_parameter[30]": "30 MiB", "test_threads_count": "30 MiB", "test_async": "20 MiB (20,972,032 bytes)",
    "test_a_marker_of_a_fixture[1 MiB]": "2 MiB", "test_second": "21 MiB", "test_unit_breaks": "2 MiB", "test_xfail_of_something_else": "2 MiB",
}


def test_no_test_is_forgotten(kinds):
    assert sorted(kinds.outcomes) == sorted(OUTCOMES), kinds.text


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcome(kinds, name):
    assert kinds.outcomes[name] == OUTCOMES[name], kinds.messages[name]


@pytest.mark.parametrize("name", BY_LIMIT)
def test_the_message_says_the_peak(kinds, name):
    assert "peak" in kinds.messages[name] and BY_LIMIT[name] in kinds.messages[name], kinds.messages[name]


def test_a_wrong_marker_of_a_fixture_is_told(kinds):
    assert "'1' has no unit: write @pytest" in kinds.messages["test_a_marker_of_a_fixture[1]"]


def test_own_failures_keep_their_traceback(kinds):
    assert '"mine" == "yours"' in kinds.messages["test_own_failure_stays"]
    assert "peak" not in kinds.messages["test_own_failure_stays"]
    assert "1 != 2" in kinds.messages["test_unit_fails_itself"]
    assert "peak" not in kinds.messages["test_unit_fails_itself"]
    assert "XPASS(strict)" in kinds.messages["test_xfail_that_passes"]


def test_summary_names_peak_rest_and_line(kinds):
    rows = kinds.summary()
    assert rows["test_a_leak"] == ("1 MiB", "1 MiB")
    assert rows["test_a_cycle_is_no_leak"] == ("8 MiB", "0")
    assert rows["test_own_failure_stays"] == ("2 MiB", "")  # its traceback keeps its variables
    line = 1 + (suite_runs.HEAD + KINDS).splitlines().index("    KEPT.append(gpu(MiB))")
    below = kinds.text.partition("::test_a_leak, over its limit\n")[2].splitlines()[0]
    # gpu() is the user's code too, and the innermost line of it.
    made = 1 + suite_runs.HEAD.splitlines().index('    return torch.empty(bytes, dtype=torch.uint8, device=f"cuda:{device}")')
    assert line > made and below.strip() == f"most of it: 1 MiB at test_kinds.py:{made} gpu"


def test_each_call_is_a_phase_of_the_report(kinds, tmp_path):
    report = runs.report(kinds.traces, tmp_path)
    phases = {phase["phase"] for phase in report["devices"][0]["phases"]}
    assert {"test_kinds.py::test_each_parameter[30]", "test_kinds.py::TestGroup::test_first"} <= phases


@pytest.mark.slow
def test_the_summary_has_as_many_tests_as_wanted_and_can_be_quiet(tmp_path):
    files = {"test_some.py": """
        @pytest.mark.parametrize("size", [3, 1, 2])
        def test_size(size): gpu(size * MiB)
        """}
    two = suite_runs.run(tmp_path, files, "--memtrace-top=2")
    assert list(two.summary()) == ["test_size[3]", "test_size[2]"]
    for arguments in (["-q", "-q"], ["--memtrace-top=0"]):
        quiet = suite_runs.run(tmp_path, files, *arguments)
        assert quiet.status == 0 and len(quiet.outcomes) == 3 and "GPU memory" not in quiet.text
