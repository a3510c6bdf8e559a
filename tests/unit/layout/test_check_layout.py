# SPDX-License-Identifier: Apache-2.0
"""The layout check fails on bad samples: a check that cannot fail checks nothing."""

import check_layout
import pytest
import slivers
import words

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


LINES = "int x;\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"analyzer/a.h": SPDX + LINES * 30, "analyzer/b.cpp": '#include "analyzer/a.h"\n' + LINES * 30},
         "analyzer/a.h: 31 lines for one user; it belongs into analyzer/b.cpp"),
        ({"analyzer/a.h": LINES * 30, "analyzer/a.cpp": '#include "analyzer/a.h"\n' + LINES * 30,
          "analyzer/b.h": '#include "a.h"\n' + LINES * 60}, "belongs into analyzer/b.h"),
        ({"interpose/a.cpp": SPDX + LINES * 20}, "interpose/a.cpp: 21 lines; at least 25"),
        ({"tests/unit/a.h": LINES * 20}, "tests/unit/a.h: 20 lines"),
    ],
)
def test_a_sliver_is_found(texts, expected):
    assert any(expected in breach for breach in slivers.breaches_of_slivers(texts))


@pytest.mark.parametrize(
    "texts",
    [
        {"analyzer/a.h": LINES * 40, "analyzer/b.cpp": '#include "analyzer/a.h"\n' + LINES * 30},
        {"analyzer/a.h": LINES * 30, "analyzer/b.cpp": '#include "a.h"\n' + LINES * 30,
         "tests/unit/a_tests.cpp": '#include "analyzer/a.h"\n' + LINES * 30},
        {"simulator/a.h": LINES * 30, "analyzer/b.cpp": '#include "simulator/a.h"\n' + LINES * 30},
        {"analyzer/a.h": LINES * 9, "analyzer/b.cpp": '#include "a.h"\n' + LINES * 30,
         "analyzer/c.cpp": '#include "a.h"\n' + LINES * 30},
        {"tests/unit/catch_main.cpp": LINES * 3},
    ],
    ids=["forty lines", "a test stands on it", "another part's", "two users", "a reason"],
)
def test_what_is_no_sliver_passes(texts):
    assert slivers.breaches_of_slivers(texts) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("analyzer/a.cpp", "int takes_censuses();\n", "censuses: say heap scan"),
        ("analyzer/a.cpp", "// The census of a step.\n", "census: say heap scan"),
        ("analyzer/a.cpp", "culprit one;\n", "culprit: say leak suspect"),
        ("analyzer/judge/keeper_words.h", "", "keeper: say retainer"),
        ("interpose/a.h", "int birth_step_;\n", "birth_step: say allocation generation"),
        ("python/memtrace/a.py", "# one that is made anew\n", "made anew: say reallocated"),
        ("page/src/a.ts", "/* still unsettled */\n", "unsettled: say inconclusive"),
    ],
)
def test_an_old_word_is_found(path, text, expected):
    assert any(expected in breach for breach in words.breaches_of_words(path, text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("analyzer/a.cpp", 'json["culprits"] = record.census_reason;  // see docs/census.md\n'),
        ("analyzer/a.cpp", "// As `memtrace.census()` asks for.\n"),
        ("interpose/a.cpp", "const errno_keeper errno_stays;\n"),
        ("python/memtrace/a.py", 'for one in verdict["culprits"]:\n    keeper = one\n'),
        ("tests/trace/a.cpp", "int census;\n"),
    ],
)
def test_words_of_the_format_and_in_quotes_stay(path, text):
    assert words.breaches_of_words(path, text) == []
