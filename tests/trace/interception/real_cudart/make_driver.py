# SPDX-License-Identifier: Apache-2.0
"""Writes a driver in C that has every function of CUDA's headers, each of which does nothing.

It answers cuGetProcAddress as documented, and writes each question and the symbol that it answered
with to the file QUERY_LOG. Made from interpose/ground/loader/known_names.def.
"""
import re
import sys
from pathlib import Path

NAMES = Path(__file__).resolve().parents[4] / "interpose" / "ground" / "loader" / "known_names.def"
ROW = re.compile(r"DRIVER\((\w+), (none|ptsz|ptds), ([\d, ]+)\)")
# In no release yet.
LATER = ("cuMemAllocLater", 13010, "cuMemAllocLater", 0)
# Those whose answers the runtime looks at before it asks for everything else.
WRITTEN = {
    "cuDriverGetVersion": "int cuDriverGetVersion(int* v) { *v = 13000; return 0; }",
    "cuGetExportTable": "int cuGetExportTable(const void** t, const void* id) "
                        "{ (void)id; *t = 0; return 801; }",
    "cuGetProcAddress": "int cuGetProcAddress(const char* n, void** f, int v, unsigned long long g) "
                        "{ int s; return ask(n, f, v, g, &s, 1); }",
    "cuGetProcAddress_v2": "int cuGetProcAddress_v2(const char* n, void** f, int v, "
                           "unsigned long long g, int* s) { return ask(n, f, v, g, s, 2); }",
}
ANSWERS = r"""
static int ask(const char* name, void** function, int version, unsigned long long flags, int* status,
               int of) {
  const struct row* best = 0;
  int known = 0;
  for (const struct row* one = rows; one->name != 0; ++one) {
    if (strcmp(one->name, name) != 0) continue;
    known = 1;
    if (one->version > version) continue;
    if (one->per_thread && !(flags & 2)) continue;
    best = one;
  }
  *function = best ? best->function : 0;
  int found = best ? 0 : known ? 2 : 1;
  if (status) *status = found;
  const char* path = getenv("QUERY_LOG");
  FILE* log = path ? fopen(path, "a") : 0;
  if (log) {
    fprintf(log, "v%d %s %d %llu %s\n", of, name, version, flags, best ? best->symbol : "-");
    fclose(log);
  }
  return of == 1 && !best ? 500 : 0;
}
"""


def symbols() -> list[tuple[str, int, str, int]]:
    """Name, version from which on, symbol, whether it is the per-thread stream's; newest last."""
    rows = [LATER]
    for name, threads, versions in ROW.findall(NAMES.read_text()):
        for nth, version in enumerate(versions.split(","), 1):
            symbol = name if nth == 1 else f"{name}_v{nth}"
            rows.append((name, int(version), symbol, 0))
            if threads != "none":
                rows.append((name, int(version), f"{symbol}_{threads}", 1))
    return rows


def source() -> str:
    rows = symbols()
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>",
             "struct row { const char* name; int version; const char* symbol; int per_thread; "
             "void* function; };",
             "extern const struct row rows[];",
             "static int ask(const char*, void**, int, unsigned long long, int*, int);"]
    for number, symbol in enumerate(sorted({row[2] for row in rows})):
        lines.append(WRITTEN.get(symbol, f"int {symbol}(void) {{ return {number} * 0; }}"))
    lines.append("const struct row rows[] = {")
    lines += [f'  {{"{name}", {version}, "{symbol}", {per_thread}, (void*)&{symbol}}},'
              for name, version, symbol, per_thread in rows]
    lines += ["  {0, 0, 0, 0, 0}};", ANSWERS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(source())
