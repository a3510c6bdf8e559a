# SPDX-License-Identifier: Apache-2.0
"""memtrace live in a terminal of tmux."""

import os
import shutil
import signal
import subprocess

import pytest
from live_runs import PROGRAM, Screen, training

from support import runs

RANKS = {rank: {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)} for rank in (0, 1)}


@pytest.fixture
def screen(tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: scripts/setup installs it")
    (tmp_path / "t").mkdir()
    one = Screen(tmp_path / "t")
    yield one
    one.close()


def watch(screen: Screen, *arguments, before: str = ""):
    screen.press(f"{before} {runs.memtrace()} live {' '.join(map(str, arguments))}".strip(), "Enter")


def test_a_frame_fits_80_by_24_follows_a_resize_and_leaves_the_terminal_as_it_was(tmp_path, screen):
    with training(tmp_path / "out", 5000, 0.02, "keep") as one:
        for _ in range(5):
            one.next_step()
        watch(screen, one.output, "--interval", "0.2")
        lines = screen.until("q quit")
        assert len(lines) == 24 and "memtrace live" in lines[0] and "q quit" in lines[-1]
        for label in ("allocated", "reserved", "growth", "By category", "Lines that hold most now"):
            assert any(label in line for line in lines), lines
        screen.until("1 MiB a step")
        screen.resize(60, 12)
        screen.until("By category", gone=True)
        lines = screen.until("q quit")
        assert len(lines) == 12 and max(map(len, lines)) <= 60 and "q quit" in lines[-1]
        screen.resize(120, 40)
        lines = screen.until("peak of the run")
        screen.press("h")
        screen.until("quit; the program goes on")
        screen.press("h")
        screen.until("peak of the run")
        screen.press("Space")
        screen.until("display paused")
        screen.press("Space")
        screen.until("display paused", gone=True)
        screen.press("a")
        screen.until("Lines with most blocks now")
        screen.press("q")
        screen.until("q quit", gone=True)
        screen.press("stty -a; echo $((40 + 2))", "Enter")
        lines = screen.until("42")
        assert any(" icanon" in line for line in lines) and any(" echo " in line for line in lines)
        assert one.process.poll() is None, "the program goes on"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("key", ["C-c", "C-z"])
def test_interrupted_or_stopped_the_terminal_is_as_it_was(tmp_path, screen, key):
    with training(tmp_path / "out", 5000, 0.02) as one:
        one.next_step()
        watch(screen, one.output)
        screen.until("q quit")
        screen.press(key)
        screen.until("q quit", gone=True)
        screen.press("echo $((40 + 2))", "Enter")
        screen.until("42")
        if key == "C-z":
            screen.press("fg", "Enter")
            screen.until("q quit")
            screen.press("q")
            screen.until("q quit", gone=True)


def test_a_late_rank_appears_can_be_shown_and_its_end_is_told(tmp_path, screen):
    output = tmp_path / "out"
    with training(output, 5000, 0.02, env=RANKS[0]) as first:
        first.next_step()
        watch(screen, output, "--interval", "0.2")
        screen.until("rank 0 of 2")
        with training(output, 5000, 0.02, env=RANKS[1]) as second:
            second.next_step()
            screen.until("1 of 2")
            screen.press(">")
            screen.until("rank 1 of 2")
            late = next(path for path in runs.traces_in(output) if path != first.trace()
                        or len(runs.traces_in(output)) == 1)
            pids = {int(path.name.split(".")[-2]) for path in runs.traces_in(output)}
            assert late and len(pids) == 2
            shown = screen.lines()[0]
            assert "running" in shown
            children = subprocess.run(["pgrep", "-P", str(second.process.pid)], text=True,
                                      capture_output=True, check=True).stdout.split()
            os.kill(int(children[0]), signal.SIGKILL)
            screen.until("rank 1 of 2, killed")
        screen.press("<")
        screen.until("rank 0 of 2, running")
        screen.until("(1 over)")


def test_a_new_trace_under_the_same_name_is_followed_instead(tmp_path, screen):
    output = tmp_path / "out"
    with training(output, 5000, 0.02, env=RANKS[0]) as first:
        first.next_step()
        link = tmp_path / "current.mtrace"
        link.symlink_to(first.trace())
        watch(screen, link, "--interval", "0.2")
        screen.until("rank 0 of 2")
        with training(tmp_path / "next", 5000, 0.02, env=RANKS[1]) as second:
            second.next_step()
            link.unlink()
            link.symlink_to(second.trace())
            screen.until("rank 1 of 2")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("variables", ["NO_COLOR=1", "TERM=dumb"])
def test_without_colour_there_is_none(tmp_path, variables):
    with training(tmp_path / "out", 20, 0) as one:
        one.end()
        # script gives it a terminal, and keeps every byte.
        log = tmp_path / "typed"
        line = f"{variables} {runs.memtrace()} live --once {one.output}"
        subprocess.run(["script", "-qec", line, str(log)], check=True, capture_output=True,
                       timeout=60, env=runs.environment({"TERM": "xterm"}))
    assert PROGRAM.name in log.read_text() and "\x1b[" not in log.read_text()
