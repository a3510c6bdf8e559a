# SPDX-License-Identifier: Apache-2.0
"""Workers, reruns, children, two devices; and where nothing is recorded."""

import pytest

import runs
import suite_runs

pytestmark = pytest.mark.usefixtures("built")

SEVERAL = {"test_several.py": """
    @pytest.mark.parametrize("size", range(1, 9))
    @pytest.mark.limit_gpu_memory("5 MiB")
    def test_size(size): gpu(size * MiB)
    """}
EXPECTED = {f"test_size[{size}]": "passed" if size <= 5 else "failed" for size in range(1, 9)}


def test_xdist_workers_check_their_own_tests(tmp_path):
    done = suite_runs.run(tmp_path, SEVERAL, "-n", "2")
    assert done.outcomes == EXPECTED, done.text
    assert done.status == 1
    assert len(done.traces) == 2  # the one that only gives tests out uses no GPU
    assert list(done.summary())[:2] == ["test_size[8]", "test_size[7]"]
    made = 1 + suite_runs.HEAD.splitlines().index('    return torch.empty(bytes, dtype=torch.uint8, device=f"cuda:{device}")')
    assert f"most of it: 8 MiB at test_several.py:{made} gpu" in done.text


def test_stopping_at_the_first_failure(tmp_path):
    done = suite_runs.run(tmp_path, SEVERAL, "-x")
    assert done.outcomes == {f"test_size[{size}]": EXPECTED[f"test_size[{size}]"] for size in range(1, 7)}


def test_reruns(tmp_path):
    done = suite_runs.run(tmp_path, {"test_again.py": """
        TRIES = []

        @pytest.mark.flaky(reruns=2)
        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_better_the_second_time():
            TRIES.append(1)
            block = gpu((8 if len(TRIES) == 1 else 4) * MiB)

        @pytest.mark.flaky(reruns=1)
        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_never_better(): gpu(8 * MiB)
        """})
    assert "2 rerun" in done.text and "1 failed, 1 passed" in done.text, done.text
    assert done.summary() == {"test_never_better": ("8 MiB", "0"), "test_better_the_second_time": ("4 MiB", "0")}


def test_children_do_not_count_and_break_nothing(tmp_path):
    done = suite_runs.run(tmp_path, {"test_children.py": """
        import multiprocessing, subprocess, sys

        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_forks():
            block = gpu(4 * MiB)
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0

        def test_child_that_leaves_as_an_exception():
            block = gpu(4 * MiB)
            child = os.fork()
            if child == 0:
                sys.stderr = sys.stdout = open(os.devnull, "w")
                sys.exit(7)
            assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) in (1, 2, 3, 7)

        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_spawns():
            block = gpu(4 * MiB)
            code = "import torch; torch.empty(64 << 20, dtype=torch.uint8, device='cuda')"
            subprocess.run([sys.executable, "-c", code], check=True)

        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_after_them(): gpu(6 * MiB)
        """})
    assert done.outcomes["test_forks"] == done.outcomes["test_spawns"] == "passed", done.text
    assert done.outcomes["test_child_that_leaves_as_an_exception"] == "passed", done.text
    assert done.outcomes["test_after_them"] == "failed"
    assert "peak of 6 MiB" in done.messages["test_after_them"]


def test_a_limit_is_for_each_device(tmp_path):
    done = suite_runs.run(tmp_path, {"test_two.py": """
        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_both_hold(): a, b = gpu(4 * MiB, 0), gpu(5 * MiB, 1)

        @pytest.mark.limit_gpu_memory("5 MiB")
        def test_second_breaks(): a, b = gpu(4 * MiB, 0), gpu(6 * MiB, 1)
        """}, devices=2)
    assert done.outcomes == {"test_both_hold": "passed", "test_second_breaks": "failed"}, done.text
    message = done.messages["test_second_breaks"]
    assert "peak of 6 MiB of GPU memory on device 1" in message and "for each device" in message


def test_what_a_test_sees_of_pytorchs_counters_stays(tmp_path):
    files = {"test_counters.py": """
        def test_counters():
            block = gpu(8 * MiB)
            del block
            stats = torch.cuda.memory_stats()
            print("STATS", sorted(stats.items()))
        """}
    traced, bare = (suite_runs.run(tmp_path, files, "-s", recorded=recorded) for recorded in (True, False))
    lines = [[line for line in one.text.splitlines() if "STATS" in line] for one in (traced, bare)]
    assert lines[0] == lines[1] and len(lines[0]) == 1


LIMITED = {"test_plain.py": """
    import pytest

    @pytest.mark.limit_gpu_memory("1 B")
    def test_limited(): pass

    @pytest.mark.skip(reason="no GPU")
    @pytest.mark.limit_gpu_leaks("1 B")
    def test_skipped(): pass

    def test_other(): pass
    """}


def test_where_nothing_is_recorded_one_line_says_so(tmp_path):
    done = suite_runs.run_plainly(tmp_path, LIMITED)
    assert done.outcomes == {"test_limited": "passed", "test_skipped": "skipped", "test_other": "passed"}
    lines = [line for line in done.text.splitlines() if "memtrace:" in line]
    assert len(lines) == 1 and "2 tests have limits" in lines[0] and "memtrace dry-run -- pytest" in lines[0]
    assert done.status == 0


def test_a_simulated_gpu_without_memtrace(tmp_path):
    done = suite_runs.run(tmp_path, SEVERAL, recorded=False)
    assert set(done.outcomes.values()) == {"passed"} and len(done.outcomes) == 8
    assert "8 tests have limits of GPU memory that were not checked" in done.text


def test_memtrace_where_there_is_no_gpu(tmp_path):
    done = suite_runs.run_plainly(tmp_path, LIMITED, env={"LD_PRELOAD": str(runs.library())})
    assert done.outcomes == {"test_limited": "passed", "test_skipped": "skipped", "test_other": "passed"}
    lines = [line for line in done.text.splitlines() if "memtrace:" in line]
    assert len(lines) == 1 and "no test used any" in lines[0] and "memtrace dry-run -- pytest" in lines[0]


def test_without_limits_nothing_is_said(tmp_path):
    done = suite_runs.run_plainly(tmp_path, {"test_any.py": "def test_it(): pass"})
    assert done.status == 0 and "memtrace" not in done.text.replace("memtrace.pytest_plugin", "")


@pytest.mark.parametrize("env", [{}, {"MEMTRACE_DISABLE": "1"}])
def test_the_flag_refuses_to_go_unrecorded(tmp_path, env):
    preload = {"LD_PRELOAD": str(runs.library())} if env else {}
    done = suite_runs.run_plainly(tmp_path, LIMITED, "--memtrace", env={**env, **preload})
    assert done.status == 4 and not done.outcomes
    assert "memtrace run -- pytest" in done.text and "Traceback" not in done.text
