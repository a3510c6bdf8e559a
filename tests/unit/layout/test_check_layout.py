# SPDX-License-Identifier: Apache-2.0
"""The layout check fails on bad samples: a check that cannot fail checks nothing."""

import check_layout
import pytest

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("analyzer/a.cpp", "int x;\n", "no SPDX"),
        ("analyzer/a.cpp", SPDX + "int x;\n" * 500, "501 lines"),
        ("analyzer/a.cpp", SPDX + "#include <cuda.h>\n", "direction"),
        ("analyzer/a.cpp", SPDX + '#include "interpose/ground/recorder/clock.h"\n', "direction"),
        ("include/memtrace/a.h", SPDX + "#include <Python.h>\n", "direction"),
        ("interpose/a.cpp", SPDX + '#include "analyzer/trace/reader/reader.h"\n', "direction"),
        ("interpose/a.cpp", SPDX + "// TO" + "DO later\n", "marker"),
        ("scripts/a", "# SPDX-License-Identifier: Apache-2.0\ncd /ro" + "ot/x\n", "path of one"),
    ],
)
def test_a_breach_is_found(path, text, expected):
    assert any(expected in breach for breach in check_layout.breaches_of(path, text))


def test_a_good_file_has_no_breach():
    text = SPDX + "#include <vector>\n"
    assert check_layout.breaches_of("analyzer/a.cpp", text) == []


WINGS = {"analyzer": {"base": ["text"], "run": ["model", "check"], "show": ["terminal"], "cli": []}}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("analyzer/base/text/a.cpp", '#include "analyzer/run/model/load.h"\n', "a floor above"),
        ("analyzer/run/model/pieces/a.h", '#  include <analyzer/show/terminal/report.h>\n', "a floor above"),
        ("analyzer/run/model/a.cpp", '#include "analyzer/run/check/limits.h"\n', "a floor above"),
        ("analyzer/show/terminal/a.cpp", '#include "analyzer/cli/command.h"\n', "a floor above"),
        ("analyzer/run/model/a.cpp", '#include "analyzer/attic/load.h"\n', "a floor above"),
        ("analyzer/attic/a.cpp", "", "has no floor"),
        ("analyzer/run/attic/a.cpp", "", "has no floor"),
        ("analyzer/run/a.cpp", "", "has no floor"),
    ],
)
def test_an_include_that_runs_back_up_is_found(path, text, expected):
    assert any(expected in breach for breach in check_layout.breaches_of_floors(path, text, WINGS))


@pytest.mark.parametrize("path", ["analyzer/run/model/load.cpp", "analyzer/run/check/a.cpp", "analyzer/cli/launch/a.h"])
def test_an_include_from_below_is_allowed(path):
    text = '#include "analyzer/base/text/units.h"\n#include "analyzer/run/model/load.h"\n#include "analyzer/a.def"\n'
    assert check_layout.breaches_of_floors(path, text, WINGS) == []


def test_a_file_belongs_to_its_room():
    assert check_layout.room_of("analyzer/judge/advice/pieces/lora.cpp") == "analyzer/judge/advice"
    assert check_layout.room_of("analyzer/cli/report.cpp") == "analyzer/cli"
    assert check_layout.room_of("simulator/core/device.cpp") == "simulator/core"
    assert check_layout.room_of("bench/a.cpp") == "bench"


def test_a_room_that_is_too_large_is_found():
    lines = {"analyzer/run/model": 200, "analyzer/base/text": 800, "interpose/ground/base": 5000}
    assert check_layout.breaches_of_shares(lines, {"analyzer": 0.9}) == []
    found = check_layout.breaches_of_shares(lines, {"analyzer": 0.75})
    assert found == ["analyzer/base/text: 80.0% of analyzer; at most 75%"]
