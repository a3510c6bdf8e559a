# SPDX-License-Identifier: Apache-2.0
"""What memtrace completion and memtrace man print: bash is really asked, other shells read it where they are."""

import re
import shutil
import subprocess

import pytest

import runs

ASK = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memtrace; printf "%s\\n" "${COMPREPLY[@]}"'


def script_for(shell: str) -> str:
    done = runs.memtrace_says("completion", shell)
    assert done.returncode == 0 and not done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bash(built, tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "memtrace.bash"
    path.write_text(script_for("bash"))

    def ask(*words: str) -> list[str]:
        done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", path, "memtrace", *words], capture_output=True,
                              text=True, env=runs.environment(), check=True)
        assert not done.stderr
        return done.stdout.split()

    return ask


@pytest.mark.parametrize("words, offered", [
    (["re"], {"report", "replay"}),
    (["report", "--h"], {"--help", "--html"}),
    (["dry-run", "--gpu", "h"], {"h100-80", "h100-94", "h200"}),
    (["dry-run", "--gpu", "=", "h2"], {"h200"}),
    (["fit", "--gpu", "t4,l"], {"t4,l4", "t4,l40s", "t4,list"}),
    (["run", "--mode", "m"], {"minimal"}),
    (["report", "traces", "--by", "f"], {"fragmentation"}),
    (["--log-level", "info", "rep"], {"report", "replay"}),
    (["report", "--log-level", "d"], {"debug"}),
    (["export", "--format", "p"], {"perfetto", "pprof", "parquet"}),
    (["estimate", "--model", "llama-2-7"], {"llama-2-7b"}),
    (["run", ""], {"--"}),
    (["run", "--no-report", "--", "trut"], set()),
    (["fleet", "vi"], {"views"}),
    (["nothing", ""], set()),
])
def test_bash_is_offered(bash, words, offered):
    assert set(bash(*words)) == offered


def test_bash_is_offered_each_subcommand_and_all_its_options(bash):
    names = bash("")
    assert {"report", "dry-run", "fleet"} <= set(names)
    for name in (one for one in names if not one.startswith("-") and one != "fleet"):
        told = runs.memtrace_says(name, "--help").stdout
        listed = re.findall(r"^  (?:-\w,)?(--[\w-]+)", told, re.MULTILINE)
        assert listed and set(listed) <= set(bash(name, "-")), name


def test_bash_takes_what_follows_the_dashes_for_a_program(bash):
    assert "bash" in bash("run", "--", "bas")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_what_is_for_it(built, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / f"memtrace.{shell}"
    path.write_text(script_for(shell))
    subprocess.run([shell, "-n", path], check=True, env=runs.environment())


def test_another_shell_is_told_which_there_are(built):
    done = runs.memtrace_says("completion", "tcsh")
    assert done.returncode == 2 and "bash" in done.stderr and done.stderr.count("\n") == 1


def test_the_fleet_commands_are_those_that_there_are(built, bash):
    told = runs.memtrace_says("fleet", "--help").stdout
    assert set(bash("fleet", "")) == set(re.findall(r"^    ([a-z]+) ", told, re.MULTILINE))


def test_the_page_of_the_manual_is_in_order(built, tmp_path):
    done = runs.memtrace_says("man")
    assert done.returncode == 0 and done.stdout.startswith(".TH MEMTRACE 1 ")
    assert done.stdout.isascii()
    page = tmp_path / "memtrace.1"
    page.write_text(done.stdout)
    for checker in (["mandoc", "-Tlint", "-Wwarning"], ["groff", "-man", "-Tutf8", "-ww", "-z"]):
        if shutil.which(checker[0]) is None:
            continue
        said = subprocess.run([*checker, page], capture_output=True, text=True, check=False)
        assert said.returncode == 0 and not said.stderr, said.stderr + said.stdout
    if shutil.which("groff") is not None:
        shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-c", page], capture_output=True, text=True, check=True).stdout
        shown = re.sub(".\x08", "", shown)  # what is bold is struck twice
        for name in ("report", "dry-run", "fleet"):
            assert re.search(rf"memtrace {name} ", shown), name
        assert "Exit status:" in shown and "-- COMMAND…" in shown
