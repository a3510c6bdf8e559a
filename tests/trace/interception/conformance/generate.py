# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ that calls every function of interpose/ground/loader/hooks.def (call_cases.py says with what).

Usage: generate.py HOOKS.DEF > calls.cpp
"""
import re
import sys

import call_cases as cases

ROW = re.compile(r"^(ALLOCATES|RELEASES|NOTES|ADDS_NODE)\((runtime|driver), (\w+), (\d+), \(([^)]*)\)", re.M)
VERSION = re.compile(r"_v[2-9]$")
ADDRESSES = {"p", "handle", "memory"}
STRUCTURES = {"parameters", "location", "access", "list", "options", "jit", "locations", "value", "affinity",
              "description", "properties", "resources", "pointers", "jit_values", "values", "indices", "sizes",
              "edges"}
BOGUS = "value{0x1234560}"


def rows(text: str) -> list[tuple]:
    return [(kind, family, symbol, int(since), split(parameters))
            for kind, family, symbol, since, parameters in ROW.findall(text)]


def split(parameters: str) -> list[tuple[str, str]]:
    """(type, name) of each parameter."""
    found = []
    for one in filter(None, (part.strip() for part in parameters.split(","))):
        kind, name = one.rsplit(" ", 1)
        found.append((kind, name))
    return found


def name_of(symbol: str) -> str:
    return VERSION.sub("", re.sub(r"_(ptsz|ptds)$", "", symbol))


def successful(symbol: str) -> tuple[str, str]:
    whole = re.sub(r"_(ptsz|ptds)$", "", symbol)
    if whole in cases.exact:
        return cases.exact[whole]
    return cases.success[name_of(symbol)]


def bogus(kind: str, name: str, slot: int) -> str:
    if name == "stream":
        return "nullptr"  # CUDA looks into what it is given for a stream
    if name in ("third", "fourth", "fifth", "sixth"):
        return "0"
    if name in STRUCTURES:
        return "nullptr" if kind == "const char*" else "zeroes()" if kind.endswith("*") else "1"
    if kind == "const char*":
        return "nullptr"
    if kind.startswith("const "):
        return "zeroes()"
    if kind in ("void*",) or name in ADDRESSES and not kind.endswith("*"):
        return BOGUS
    if kind.endswith("*"):
        return f"out({slot})"
    if kind.startswith("memtrace::"):
        return f"{kind}{{}}"
    if kind in ("size_t", "unsigned long long"):
        return "3" if name == "count" else "1ull << 62"
    return "4242"


def failing(symbol: str, parameters: list) -> str | None:
    if symbol in cases.failing:
        return cases.failing[symbol]
    return ", ".join(bogus(kind, name, slot) for slot, (kind, name) in enumerate(parameters))


def function(index: int, kind: str, symbol: str, parameters: list) -> str:
    types = ", ".join(of for of, _ in parameters)
    arguments, after = successful(symbol)
    bad = failing(symbol, parameters)
    old = symbol in cases.old
    ends = f"if (error == 0) {{ {after}; }}" if after else "(void)error;"
    lines = [
        f"void call_{index}(void* function, kind what) {{",
        f"  using parameters = std::tuple<{types}>;",
        f"  const auto call = reinterpret_cast<int (*)({types})>(function);",
        "  [[maybe_unused]] value given{0};",
        "  if (what == kind::null) return void(perform(call, parameters{}));" if parameters else
        "  if (what == kind::null || what == kind::bogus) return;",
    ]
    if bad is not None and parameters:
        lines.append(f"  if (what == kind::bogus) return void(perform(call, parameters{{{bad}}}));")
    elif parameters:
        lines.append("  if (what == kind::bogus) return;")
    if old:
        lines.append("  use_old_context(true);")
    lines += [
        f"  const parameters arguments{{{arguments}}};",
        "  if (what == kind::other_device) use_device(1);",
        "  if (what == kind::capture) return perform_in_capture(call, arguments)" + (", use_old_context(false);"
                                                                                     if old else ";"),
        "  int error = perform(call, arguments);",
        "  if (what == kind::again) error = perform(call, arguments);",
        f"  {ends}",
    ]
    if old:
        lines.append("  use_old_context(false);")
    return "\n".join([*lines, "}"])


def written(value: bool) -> str:
    return "true" if value else "false"


def entry(index: int, kind: str, family: str, symbol: str, since: int) -> str:
    per_thread = symbol.endswith(("_ptsz", "_ptds"))
    flags = [written(family == "driver"), str(since), written(per_thread), written(kind == "RELEASES"),
             written(symbol in cases.alone), written(symbol in cases.resets)]
    return f'    {{"{symbol}", "{name_of(symbol)}", {", ".join(flags)}, call_{index}}},'


def program(text: str, lacking: set[str]) -> str:
    every = [row for row in rows(text) if row[2] not in lacking]
    parts = ['#include <unistd.h>', '', '#include "runner.h"', '', "using namespace world;",
             "using namespace runner;", ""]
    for index, (_, _, symbol, _, _) in enumerate(every):
        parts.append(f'extern "C" void linked_{index}() __asm__("{symbol}");')
    parts += ["", "namespace {", ""]
    for index, (kind, _, symbol, _, parameters) in enumerate(every):
        parts += [function(index, kind, symbol, parameters), ""]
    parts += ["}  // namespace", "", "const row runner::rows[] = {"]
    for index, (kind, family, symbol, since, _) in enumerate(every):
        parts.append(entry(index, kind, family, symbol, since))
    parts += ["};", f"const int runner::row_count = {len(every)};", "", "void* runner::linked(int row) {",
              "  static void (*const functions[])() = {"]
    parts += [f"      linked_{index}," for index in range(len(every))]
    parts += ["  };", "  return reinterpret_cast<void*>(functions[row]);", "}", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as table:
        print(program(table.read(), set(sys.argv[2:])))
