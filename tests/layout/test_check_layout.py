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
        ("analyzer/a.cpp", SPDX + '#include "interpose/recorder/clock.h"\n', "direction"),
        ("include/memtrace/a.h", SPDX + "#include <Python.h>\n", "direction"),
        ("interpose/a.cpp", SPDX + '#include "analyzer/trace/reader.h"\n', "direction"),
        ("interpose/a.cpp", SPDX + "// TO" + "DO later\n", "marker"),
        ("scripts/a", "# SPDX-License-Identifier: Apache-2.0\ncd /ro" + "ot/x\n", "path of one"),
    ],
)
def test_a_breach_is_found(path, text, expected):
    assert any(expected in breach for breach in check_layout.breaches_of(path, text))


def test_a_good_file_has_no_breach():
    text = SPDX + "#include <vector>\n"
    assert check_layout.breaches_of("analyzer/a.cpp", text) == []


FLOORS = {"analyzer": ["text", "run", "terminal"]}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("analyzer/text/a.cpp", '#include "analyzer/run/load.h"\n', "a floor above"),
        ("analyzer/run/pieces/a.h", '#  include <analyzer/terminal/report.h>\n', "a floor above"),
        ("analyzer/run/a.cpp", '#include "analyzer/attic/load.h"\n', "a floor above"),
        ("analyzer/attic/a.cpp", "", "has no floor"),
    ],
)
def test_an_include_that_runs_back_up_is_found(path, text, expected):
    assert any(expected in breach for breach in check_layout.breaches_of_floors(path, text, FLOORS))


def test_an_include_from_below_is_allowed():
    text = '#include "analyzer/text/units.h"\n#include "analyzer/run/load.h"\n'
    assert check_layout.breaches_of_floors("analyzer/run/load.cpp", text, FLOORS) == []
    assert check_layout.breaches_of_floors("analyzer/terminal/report.cpp", text, FLOORS) == []
    assert check_layout.breaches_of_floors("analyzer/text/a.cpp", '#include "analyzer/a.def"\n', FLOORS) == []


def test_a_folder_that_is_too_large_is_found():
    lines = {"analyzer/run": 200, "analyzer/text": 800, "interpose/base": 5000}
    assert check_layout.breaches_of_shares(lines, {"analyzer": 0.9}) == []
    found = check_layout.breaches_of_shares(lines, {"analyzer": 0.75})
    assert found == ["analyzer/text: 80.0% of analyzer; at most 75%"]
