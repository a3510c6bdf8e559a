# SPDX-License-Identifier: Apache-2.0
"""Goes through a page's views, which are its sections; what draws waits until it is seen."""


def names(page) -> list[str]:
    return page.page.eval_on_selector_all("main section[id]", "sections => sections.map(one => one.id)")


def shown_history(page) -> int:
    """The number of the device and process that the page shows."""
    choice = page.page.locator("header select")
    return int(choice.input_value()) if choice.count() else 0


def visit(page, name: str):
    section = page.page.locator(f"main section#{name}")
    section.evaluate("section => section.scrollIntoView()")
    settle(page)
    return section


def settle(page) -> None:
    """Until what was asked for is drawn: what is seen is noticed in one frame and drawn in the next."""
    page.page.evaluate("""async () => { for (let i = 0; i < 4; ++i) await new Promise(requestAnimationFrame); }""")


def visit_all(page) -> dict[str, str]:
    """The text of each view, with what it keeps folded."""
    texts = {}
    for name in names(page):
        section = visit(page, name)
        open_all(section)
        texts[name] = section.inner_text()
    return texts


def open_all(section) -> None:
    section.evaluate("section => section.querySelectorAll('details').forEach(one => { one.open = true; })")
