# SPDX-License-Identifier: Apache-2.0
"""The content of a page's file, read without a browser."""

import base64
import itertools
import json
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path

CODES = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


class Elements(HTMLParser):
    """Every element's name and attributes, as a parser finds them."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def inside(file: Path, identity: str) -> str:
    found = re.findall(rf'<script[^>]*id="{identity}"[^>]*>(.*?)</script>', file.read_text(), re.DOTALL)
    assert len(found) == 1, f"{len(found)} elements {identity}"
    return found[0]


def facts(file: Path) -> dict:
    return json.loads(inside(file, "memtrace-facts"))


def columns(file: Path) -> bytes:
    """The inflated bytes."""
    return zlib.decompress(base64.b64decode(inside(file, "memtrace-columns")))


def decoded(told: dict, raw: bytes) -> list:
    code = CODES[told["type"]]
    values = list(struct.unpack_from(f"<{told['count']}{code}", raw, told["offset"]))
    if told["delta"]:
        values = list(itertools.accumulate(values))
    return [told["base"] + value * told["scale"] for value in values]


def column(file: Path, name: str) -> list:
    made, raw = facts(file), columns(file)
    assert made["columns"]["bytes"] == len(raw)
    told, = (one for one in made["columns"]["list"] if one["name"] == name)
    return decoded(told, raw)


def all_columns(file: Path) -> dict[str, list]:
    raw = columns(file)
    return {told["name"]: decoded(told, raw) for told in facts(file)["columns"]["list"]}


def policy(file: Path) -> dict[str, list[str]]:
    """The page's Content-Security-Policy: its directives and what they allow."""
    told, = (attributes["content"] for tag, attributes in Elements(file.read_text()).found
             if tag == "meta" and (attributes.get("http-equiv") or "").lower() == "content-security-policy")
    parts = [part.split() for part in told.split(";") if part.strip()]
    return {name: allowed for name, *allowed in parts}
