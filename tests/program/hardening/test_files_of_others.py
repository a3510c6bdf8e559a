# SPDX-License-Identifier: Apache-2.0
"""In a directory that everybody may write, nobody is led to overwrite or to give away what is his.

The kernel's own protection (fs.protected_*) may do the same; with it these tests cannot fail there,
without it they can.
"""

import os
import stat

import pytest

from stage import OTHER, VICTIM, may_set_user_id, set_user_id


@pytest.fixture
def trace(machine):
    folder = machine.home_of(VICTIM) / "traces"
    found = sorted(folder.glob("*.mtrace"))
    if not found:
        machine.record(folder)
        found = sorted(folder.glob("*.mtrace"))
    return found[0]


def report_to(machine, trace, target, **how):
    return machine.run(VICTIM, [machine.root / "memtrace", "report", trace, "--json", target], **how)


def test_a_trace_is_its_owners_alone(machine, trace):
    facts = trace.stat()
    assert facts.st_uid == VICTIM
    assert stat.S_IMODE(facts.st_mode) == 0o600
    assert machine.run(OTHER, ["cat", trace], cwd=machine.root).returncode != 0


def test_a_recording_does_not_follow_a_directory_that_another_user_linked(machine):
    target = machine.home_of(VICTIM) / "elsewhere"
    target.mkdir()
    os.chown(target, VICTIM, VICTIM)
    link = machine.link_by(OTHER, "linked-traces", target)
    for name in (str(link), f"{link}/"):
        done = machine.record(name)
        assert done.returncode == 0 and done.stdout == f"{VICTIM}\n".encode()
        assert b"no trace" in done.stderr
        assert list(target.iterdir()) == []


def test_a_recording_follows_the_users_own_link(machine):
    target = machine.home_of(VICTIM) / "mine"
    target.mkdir()
    os.chown(target, VICTIM, VICTIM)
    machine.record(machine.link_by(VICTIM, "my-traces", target))
    assert len(list(target.glob("*.mtrace"))) == 1


def test_a_name_that_is_taken_is_left_alone(machine):
    precious = machine.precious()
    folder = machine.everybodys / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    # The shell's process becomes the program's: it knows which name will be taken.
    script = (f'ln -s "{precious}" "{folder}/allocates.$$.mtrace"; '
              f'ln -s "{folder}/nowhere" "{folder}/allocates.$$.1.mtrace"; '
              f'exec env LD_PRELOAD="{machine.root}/libmemtrace.so" MEMTRACE_OUTPUT="{folder}" '
              f'"{machine.root}/allocates"')
    done = machine.run(VICTIM, ["sh", "-c", script])
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "precious\n"
    assert not (folder / "nowhere").exists()
    made = [path for path in folder.glob("*.mtrace") if not path.is_symlink()]
    assert len(made) == 1 and made[0].name.endswith(".2.mtrace")


def test_the_log_is_not_written_through_anothers_link(machine):
    precious = machine.precious()
    link = machine.link_by(OTHER, "memtrace.log", precious)
    done = machine.record(machine.home_of(VICTIM), env={"MEMTRACE_LOG": str(link)})
    assert done.returncode == 0
    assert precious.read_text() == "precious\n"
    own = machine.home_of(VICTIM) / "own.log"
    machine.record(machine.home_of(VICTIM), env={"MEMTRACE_LOG": str(own)})
    assert "recording to" in own.read_text()


def test_a_log_that_is_a_pipe_without_a_reader_stops_nobody(machine):
    pipe = machine.everybodys / "pipe"
    os.mkfifo(pipe, 0o666)
    pipe.chmod(0o666)
    done = machine.record(machine.home_of(VICTIM), env={"MEMTRACE_LOG": str(pipe)})
    assert done.returncode == 0


def test_a_report_is_not_written_through_anothers_link(machine, trace):
    precious = machine.precious()
    done = report_to(machine, trace, machine.link_by(OTHER, "report.json", precious))
    assert done.returncode != 0
    assert precious.read_text() == "precious\n"
    assert len(done.stderr.splitlines()) == 1


def test_a_report_is_not_given_to_whoever_made_its_file(machine, trace):
    theirs = machine.everybodys / "prepared.json"
    theirs.write_text("")
    os.chown(theirs, OTHER, OTHER)
    theirs.chmod(0o666)
    assert report_to(machine, trace, theirs).returncode != 0
    assert theirs.read_text() == ""


def test_a_report_does_not_overwrite_a_file_by_its_second_name(machine, trace):
    precious = machine.precious()
    second = machine.everybodys / "second.json"
    os.link(precious, second)
    assert report_to(machine, trace, second).returncode != 0
    assert precious.read_text() == "precious\n"


def test_a_report_goes_where_its_user_wants(machine, trace):
    target = machine.home_of(VICTIM) / "target.json"
    link = machine.link_by(VICTIM, "own-link.json", target)
    for _ in range(2):  # made, then replaced
        assert report_to(machine, trace, link).returncode == 0
        assert target.read_text().rstrip().endswith("}")
    redirected = machine.home_of(VICTIM) / "redirected.json"
    redirected.touch()
    os.chown(redirected, VICTIM, VICTIM)
    with open(redirected, "wb") as stdout:
        assert report_to(machine, trace, "/dev/stdout", stdout=stdout).returncode == 0
    assert redirected.read_text().rstrip().endswith("}")
    assert report_to(machine, trace, "/dev/null").returncode == 0


def test_copies_of_traces_replace_nothing(machine, trace):
    precious = machine.precious()
    link = machine.link_by(OTHER, trace.name, precious)
    scrub = [machine.root / "memtrace", "scrub", trace, "--output"]
    assert machine.run(VICTIM, [*scrub, link.parent]).returncode != 0
    assert precious.read_text() == "precious\n"
    assert machine.run(VICTIM, [*scrub, "copies"]).returncode == 0
    first = (machine.home_of(VICTIM) / "copies" / trace.name).read_bytes()
    assert machine.run(VICTIM, [*scrub, "copies"]).returncode != 0
    assert (machine.home_of(VICTIM) / "copies" / trace.name).read_bytes() == first


def test_a_set_user_id_program_is_not_recorded(machine):
    if not may_set_user_id(machine):
        pytest.skip("programs do not change their user on this file system")
    program = machine.root / "set_user_id"
    folder = machine.everybodys / "of-set-user-id"
    env = {"MEMTRACE_OUTPUT": str(folder), "MEMTRACE_LOG": str(machine.everybodys / "log")}
    set_user_id(program, VICTIM)
    done = machine.run(OTHER, [program], cwd=machine.root, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{VICTIM}\n".encode(), b"")
    assert not folder.exists() and not (machine.everybodys / "log").exists()
    # The same program with its user's rights only is recorded: it is the library that ignores us.
    program.chmod(0o755)
    done = machine.run(OTHER, [program], cwd=machine.root, env=env)
    assert done.stdout == f"{OTHER}\n".encode()
    assert len(list(folder.glob("*.mtrace"))) == 1


def test_of_the_environment_only_the_short_list_is_recorded(machine):
    folder = machine.home_of(VICTIM) / "of-environment"
    env = {"SECRET_TOKEN": "abc123xyz", "AWS_SECRET_ACCESS_KEY": "abc123xyz", "NCCL_ALGO": "Ring",
           "MEMTRACE_WHATEVER": "abc123xyz", "NCCL_SOCKET_IFNAME": "abc123xyz"}
    machine.record(folder, env=env)
    (trace,) = folder.glob("*.mtrace")
    dumped = machine.run(VICTIM, [machine.root / "memtrace", "dump", trace])
    assert dumped.returncode == 0
    assert b"NCCL_ALGO" in dumped.stdout
    assert b"abc123xyz" not in dumped.stdout
