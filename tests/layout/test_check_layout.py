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
