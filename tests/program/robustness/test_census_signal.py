# SPDX-License-Identifier: Apache-2.0
"""SIGUSR2 asks for a census where the user wants that, and only where nobody else has a use for it."""

import pytest

import runs
from pairs import script, unstable, without_our_lines

pytestmark = pytest.mark.usefixtures("built")

ENDED = b"default ended: -12\n"
GOES_ON = b"default: [<Handlers.SIG_DFL: 0>, 'alive']\ndefault ended: 0\n"


def test_the_program_s_own_use_of_the_signal_holds(tmp_path):
    bare = runs.run(script("census_signals"), None).expect(0)
    traced = runs.run(script("census_signals"), tmp_path, env={"MEMTRACE_CENSUS_SIGNAL": "1"}).expect(0)
    assert bare.stdout.endswith(ENDED)
    assert bare.stdout.count(b"ended: 0") == 10
    assert traced.stdout == bare.stdout.removesuffix(ENDED) + GOES_ON
    same = [[unstable(line) for line in without_our_lines(outcome.stderr)]
            for outcome in (bare, traced)]
    assert same[0] == same[1]
    taken = [sum(line["kind"] == "census" and line["reason"] == 5 for line in runs.dump(trace, False))
             for trace in traced.traces]
    assert sum(taken) == 2  # the beginning and the end of one


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", ["standard", "full"])
def test_nobody_asked_for_it(tmp_path, mode):
    """The signal ends the program, as ever."""
    bare = runs.run(script("census_signals"), None).expect(0)
    traced = runs.run(script("census_signals"), tmp_path, env={"MEMTRACE": mode}).expect(0)
    assert bare.stdout.endswith(ENDED)
    assert traced.stdout == bare.stdout
