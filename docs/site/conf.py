# SPDX-License-Identifier: Apache-2.0
"""The site that scripts/site makes of the pages that make_site.py stages (Sphinx reads this)."""

from pathlib import Path

project = "memtrace"
html_title = "memtrace"
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_show_sphinx = False
html_copy_source = False
copybutton_prompt_text = "$ "
# Pages of runs are opened, not part of the text.
html_extra_path = [str(Path(__file__).parents[2] / "build" / "site-pages" / "gallery_pages")]
