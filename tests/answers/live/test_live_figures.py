# SPDX-License-Identifier: Apache-2.0
"""memtrace live --once: what PyTorch says while a program runs, and what the report says after it."""

import os
import shutil
import signal
import subprocess
import time

import pytest
from live_runs import figures, live, training

from support import runs


def test_while_it_runs_figures_lie_between_what_the_program_says(tmp_path):
    with training(tmp_path / "out", 2000, 0.03, "keep") as one:
        for _ in range(3):
            one.next_step()
        looks = 0
        for _ in range(4):
            before = one.latest_step()
            (now,) = figures(one.output)
            after = one.latest_step()
            (device,) = now["devices"]
            assert now["state"] == "running" and now["pid"] == one.pid()
            assert before["peak"] <= device["peak_allocated_bytes"] <= after["peak"] + 2**22
            assert before["step"] + 1 <= device["steps"] <= after["step"] + 2
            assert before["reserved"] <= device["peak_reserved_bytes"]
            # A category for every byte of what is allocated now.
            assert sum(row["bytes"] for row in device["categories"]) == device["allocated_bytes"]
            looks += 1
        assert looks == 4


def test_after_its_end_figures_are_the_reports_to_the_byte(tmp_path):
    with training(tmp_path / "out", 60, 0, "keep") as one:
        one.end()
        (shown,) = figures(one.output)
        said = runs.report([one.trace()], tmp_path)
    assert shown["state"] == "ended"
    (device,), (reported,) = shown["devices"], said["devices"]
    assert device["peak_allocated_bytes"] == reported["peak_allocated"]["allocated_bytes"]
    assert device["peak_reserved_bytes"] == reported["peak_reserved"]["reserved_bytes"]
    (series,) = said["steps"]["series"]
    steps = series["steps"]
    assert device["steps"] == said["steps"]["count"] == 60
    assert device["last_step_peak_bytes"] == steps[-1]["peak_allocated_bytes"]
    at_peak = {row["category"]: (row["bytes"], row["blocks"]) for row in device["categories_at_peak"]}
    assert at_peak == {row["category"]: (row["bytes"], row["blocks"])
                       for row in reported["at_peak"]["categories"]}
    verdict = next(one for one in said["verdicts"] if one["subject"] == "device:0")
    assert device["growth"]["shape"] == verdict["shape"] == "accumulating"
    assert device["growth"]["bytes_per_step"] == verdict["bytes_per_step"]
    assert device["growth"]["steps_to_oom"] == verdict["steps_to_oom"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [1, 2])
def test_following_a_recording_gives_the_records_that_reading_it_gives(tmp_path, seed):
    with training(tmp_path / "out", 150, 0.005) as one:
        one.next_step()
        done = subprocess.run([runs.build() / "tests" / "follow_trace", one.trace(), str(seed)],
                              capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    polls, at_first, in_the_end = (int(word) for word in done.stdout.split() if word.isdigit())
    assert polls > 3 and at_first < in_the_end


def test_a_killed_program_says_so_and_its_last_events_are_there(tmp_path):
    with training(tmp_path / "out", 2000, 0.01) as one:
        for _ in range(5):
            one.next_step()
        os.kill(one.pid(), signal.SIGKILL)
        one.end()
        last = one.latest_step()
        before = one.trace().read_bytes()
        (shown,) = figures(one.trace())
        assert one.trace().read_bytes() == before, "live writes nothing, not even for a killed one"
        assert shown["state"] == "killed"
        assert "killed" in live("--once", one.trace()).stdout.splitlines()[0]
        # memtrace report takes what the program left in memory into the file, and says the same.
        said = runs.report([one.trace()], tmp_path)
    assert shown["events"] == said["completeness"]["events"]
    assert shown["devices"][0]["peak_allocated_bytes"] == \
        said["devices"][0]["peak_allocated"]["allocated_bytes"]
    assert shown["devices"][0]["steps"] >= last["step"]


def test_a_truncated_copy_shows_what_is_there(tmp_path):
    with training(tmp_path / "out", 300, 0) as one:
        one.end()
        whole = one.trace().read_bytes()
    copy = tmp_path / "cut.mtrace"
    copy.write_bytes(whole[: len(whole) - 2000])
    (shown,) = figures(copy)
    assert shown["state"] == "killed"
    copy.write_bytes(whole[:100])
    refused = live("--once", copy)
    assert refused.returncode == 1 and "cut off after 100 bytes" in refused.stderr


def test_it_finds_a_process_its_launcher_and_what_grows_here(tmp_path):
    with training(tmp_path / "out", 2000, 0.02) as one:
        one.next_step()
        for argument in (one.pid(), one.process.pid):
            (shown,) = figures(argument, cwd=tmp_path)
            assert shown["pid"] == one.pid()
        (shown,) = figures(cwd=one.output)
        assert shown["pid"] == one.pid()
    time.sleep(0.1)
    none = live("--once", cwd=tmp_path)
    assert none.returncode == 1 and none.stderr.count("\n") == 1
    assert "no recording grows in the current directory" in none.stderr


@pytest.mark.parametrize("argument, words", [
    ("4194300", "no process of that number"),
    ("/nowhere/at/all", "no such file, directory or process"),
    (".", "no traces in this directory"),
])
def test_where_there_is_nothing_one_sentence_says_so(tmp_path, argument, words):
    shown = live("--once", argument, cwd=tmp_path)
    assert shown.returncode == 1 and shown.stdout == ""
    assert words in shown.stderr and shown.stderr.count("\n") == 1


def test_a_process_that_is_not_recorded_is_told(tmp_path):
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as other:
        shown = live("--once", other.pid)
        other.kill()
    assert shown.returncode == 1 and "has no trace that can be found" in shown.stderr


def test_a_frame_for_scripts_is_plain_text(tmp_path):
    with training(tmp_path / "out", 20, 0) as one:
        one.end()
        shown = live("--once", one.output)
    assert shown.returncode == 0 and "\x1b" not in shown.stdout
    for label in ("allocated", "reserved", "peak of last step", "peak of the run", "By category"):
        assert label in shown.stdout


def test_a_watched_program_is_never_written_to_and_no_socket_is_opened(tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    with training(tmp_path / "out", 2000, 0.02) as one:
        one.next_step()
        log = tmp_path / "calls"
        subprocess.run(["strace", "-f", "-o", log, "-e", "trace=socket,openat,flock,unlink,pwrite64",
                        runs.memtrace(), "live", "--once", one.output], check=True,
                       capture_output=True, timeout=120)
    calls = log.read_text().splitlines()
    mine = [call for call in calls if ".mtrace" in call or "/dev/shm" in call]
    assert mine, "it opened the trace"
    assert all("O_RDONLY" in call for call in mine if "openat" in call)
    assert not any(word in call for call in calls
                   for word in ("socket(", "unlink(", "pwrite64(", "LOCK_EX"))
