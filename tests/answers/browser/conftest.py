# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

pytest.register_assert_rewrite("browsing", "page_contents", "page_files", "page_views")

import browsing  # noqa: E402
import page_files  # noqa: E402


@pytest.fixture(scope="session")
def files(built, tmp_path_factory):
    """Traces and pages; the workers of one run of pytest share them."""
    base = tmp_path_factory.getbasetemp()
    return page_files.Files((base.parent if base.name.startswith("popen-") else base) / "browser")


@pytest.fixture(scope="session")
def browser():
    with browsing.chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def opened(browser, files):
    """opened(name, **how): the page of that name, opened once a module; each has to end without complaints."""
    known = {}

    def give(name: str, **how) -> browsing.Opened:
        key = name, *sorted(how.items())
        if key not in known:
            known[key] = browsing.Opened(browser, files.page(name), **how)
        return known[key]

    yield give
    for page in known.values():
        page.close()
