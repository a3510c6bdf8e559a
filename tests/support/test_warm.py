# SPDX-License-Identifier: Apache-2.0
"""A warm start records what a cold one does: event by event, with frames, addresses on the device, names and order.

Left out, because it says when and where a process ran, and differs between two cold starts as well:
- times, the run's name (a time, and a server's is that of its own start), process and thread ids, the number of an event
  among those that include samples;
- samples of the host's memory (`counter`), which are taken by time;
- addresses on the host of Python's objects, of pinned memory and of CUDA's streams and handles: each is replaced by the
  order in which it is first seen;
- the folder of the recording in names of files, and in the command line;
- the exit status, which is told of the process that memtrace itself has started;
- that a variable was set after the library was loaded: a server's child gets its own in between.

amp_checkpoint.py is none of the ten: two cold recordings of it differ, too, as autocast frees its cache of casts in the
order of a hash table whose keys are addresses on the host."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import programs
import recordings
import runs
import warm as warm_runs

CASES = {
    "adamw": ("transformer_adamw", ["--steps", "4"], {}),
    "streams": ("side_streams", [], {}),
    "out_of_memory": ("out_of_memory", [], {"memory": "2GiB"}),
    "lstm_expandable": ("lstm", [], {"env": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}),
    "cuda_graph": ("cuda_graph", [], {}),
    # Without steps the time that a heap scan took decides when the next may come.
    "kv_cache": ("kv_cache_generation", [], {"env": {"MEMTRACE_CENSUS": "0"}}),
    "gan": ("gan", [], {"gpu": "a100-40"}),
    "by_hand": ("by_hand", [], {}),
    "own_optimizers": ("own_optimizers", [], {}),
    "two_devices": ("train", ["--steps", "6"], {"devices": 2}),
}
WHERE_AND_WHEN = {"n", "t_ns", "thread", "nanoseconds", "ns"}


def facts_of(recording: recordings.Recording) -> list[dict]:
    order: dict[int, int] = {0: 0}
    found, sources = [], []
    for record in runs.dump(recording.trace):
        key = record.get("key", "")
        if record["kind"] in ("counter", "thread") or key in ("run", "exit_status", "main_thread"):
            continue
        if key.startswith("set_by_program."):
            continue
        one = {name: value for name, value in record.items() if name not in WHERE_AND_WHEN}
        is_on_host = record["kind"] == "object" or "Host" in record.get("api", "")
        for name in ("stream", "handle", *(["address"] if is_on_host else [])):
            if name in one:
                one[name] = order.setdefault(one[name], len(order))
        one = json.loads(json.dumps(one).replace(str(recording.folder), ""))
        if record["kind"] != "source":
            found.append(one)
            continue
        # By a thread of its own, which reads the files when it comes to it.
        del one["modified_ns"]
        sources.append(one)
    return found + sorted(sources, key=json.dumps)


@pytest.mark.one_in(4)
@pytest.mark.skipif(runs.on_real_gpu(), reason="programs start cold on a real GPU")
@pytest.mark.parametrize("name", CASES)
def test_a_warm_start_records_what_a_cold_one_does(built, name):
    """Threads of PyTorch's may give something back a moment later in one run than in another, cold or warm, and Python's
    collector comes earlier where imports had to be compiled: of three pairs one has to agree."""
    program, arguments, how = CASES[name]
    differs = None
    for again in range(3):
        cold, warm = (recordings.record(programs.path(program), *arguments, **how, cold=cold, again=again)
                      for cold in (True, False))
        assert (warm.status, warm.stdout) == (cold.status, cold.stdout)
        expected, found = facts_of(cold), facts_of(warm)
        assert len(expected) > 100
        if found == expected:
            return
        differs = next(((number, one, other) for number, (one, other) in enumerate(zip(expected, found)) if one != other),
                       (len(expected), len(found)))
    assert differs is None, f"{len(expected)} records"


def test_the_ten_are_of_every_kind():
    assert len(CASES) == 10
    used = {program for program, *_ in CASES.values()}
    for kind in (programs.having("trains"), programs.having("infers"), programs.having("streams"),
                 programs.having("graph"), programs.having("devices"), programs.having("leaks"),
                 programs.having("oom")):
        assert used & set(kind), kind


SAYS = """
import atexit, os, sys
from pathlib import Path
atexit.register(print, "at exit", flush=True)
print(sys.argv[1:], __name__, Path(__file__).name, sys.path[0] == str(Path(__file__).parent), sys._getframe().f_back)
print(Path("/proc/self/cmdline").read_bytes().split(bytes(1))[1:], os.getcwd(), sys.stdin.read(), sys.orig_argv[1:])
print(sorted(name for name in sys.modules if "warm" in name or "sitecustomize" in name), os.environ.get("PYTHONPATH"))
print(sorted(name for name in os.environ if "WARM" in name), os.environ["ASKED"])
"""
ENDS = {
    "returns": ("", 0), "exits": ("sys.exit(7)", 7), "says": ("sys.exit('no')", 1), "raises": ("1 / 0", 1),
    "killed": ("os.kill(os.getpid(), 9)", -9), "interrupted": ("os.kill(os.getpid(), 2)", -2),
    "at_once": ("os._exit(5)", 5), "aborts": ("os.abort()", -6),
}


@pytest.mark.skipif(runs.on_real_gpu(), reason="programs start cold on a real GPU")
@pytest.mark.parametrize("name", ENDS)
def test_a_program_sees_and_ends_what_it_does_after_a_cold_start(built, tmp_path, name):
    end, status = ENDS[name]
    program = tmp_path / "says.py"
    program.write_text(f"{SAYS}sys.stdout.flush()\n{end}\n")
    cold, warm = (run([runs.python(), program, "one", "two words"], None, env={"ASKED": "yes"}, cwd=tmp_path)
                  for run in (runs.run, warm_runs.run))
    assert cold.status == warm.status == status
    assert warm.stdout.decode() == cold.stdout.decode()
    assert b"__main__ says.py True None" in warm.stdout
    assert warm.stderr.decode() == cold.stderr.decode()


def test_what_hangs_is_ended_and_the_next_program_runs(built, tmp_path):
    hangs, ends = tmp_path / "hangs.py", tmp_path / "ends.py"
    hangs.write_text("import time; time.sleep(1000)")
    ends.write_text("print('ended')")
    with pytest.raises(AssertionError, match="still running"):
        warm_runs.run([runs.python(), hangs], None, timeout=0.5)
    assert warm_runs.run([runs.python(), ends], None).expect(0).stdout == b"ended\n"


def test_threads_share_the_servers(built, tmp_path, monkeypatch):
    """With one more server than is kept: none is stopped while a program runs on it."""
    monkeypatch.setattr(warm_runs, "servers", {})
    monkeypatch.setattr(warm_runs, "AT_ONCE", 1)
    program = tmp_path / "sleeps.py"
    program.write_text("import os, time; time.sleep(0.3); print(os.environ['OMP_NUM_THREADS'])")

    def run(threads: str) -> bytes:
        command = [runs.python(), program]
        return warm_runs.run(command, None, env={"OMP_NUM_THREADS": threads}).expect(0).stdout

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, "1212121"))
    assert found == [b"1\n", b"2\n"] * 3 + [b"1\n"]
    assert [server.running for server in warm_runs.servers.values()] == [0] * len(warm_runs.servers)
    warm_runs.stop_all()


def test_a_change_beside_a_program_records_it_anew_only_where_it_is_named(tmp_path):
    folder = Path(tmp_path)
    for name, text in {"main.py": "import used", "used.py": "import deeper", "deeper.py": "", "other.py": ""}.items():
        (folder / name).write_text(text)
    names = [path.name for path in recordings.sources_of(folder / "main.py", folder)]
    assert names == ["deeper.py", "main.py", "used.py"]
