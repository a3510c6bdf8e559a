// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include "analyzer/judge/program/uses.h"

namespace memtrace::program {

namespace {

// Methods of Python's containers and queues.
constexpr std::array<std::string_view, 6> adds_one = {"append", "appendleft", "add",
                                                      "insert", "put",        "put_nowait"};
constexpr std::array<std::string_view, 3> adds_many = {"extend", "extendleft", "update"};
constexpr std::array<std::string_view, 3> takes_one = {"popleft", "popitem", "remove"};
constexpr std::array<std::string_view, 16> only_reads = {
    "sort",  "reverse", "index",     "count",       "copy",     "keys", "values", "items",
    "empty", "full",    "task_done", "most_common", "elements", "join", "rotate", "move_to_end"};
// Functions of Python that read what they are given.
constexpr std::array<std::string_view, 30> reads_argument = {
    "sum",        "max",      "min",   "sorted",    "list", "tuple",  "set",  "frozenset",
    "dict",       "print",    "zip",   "enumerate", "map",  "filter", "any",  "all",
    "iter",       "reversed", "range", "str",       "repr", "id",     "type", "bool",
    "isinstance", "hash",     "float", "int",       "abs",  "next"};
// Libraries whose functions read the containers that they are given, but for those below.
constexpr std::array<std::string_view, 14> reading_libraries = {
    "torch", "numpy",  "math", "random", "itertools", "functools", "statistics",
    "json",  "pickle", "copy", "sys",    "gc",        "operator",  "logging"};

// partial(collect, items), operator.iadd(items, more)
constexpr std::array<std::string_view, 7> passes_on = {
    "partial", "partialmethod", "iadd", "iconcat", "setitem", "reduce", "methodcaller"};

[[nodiscard]] std::span<const std::string_view> names_of(known as) {
  switch (as) {
    case known::adds_one:
      return adds_one;
    case known::adds_many:
      return adds_many;
    case known::takes_one:
      return takes_one;
    case known::only_reads:
      return only_reads;
    case known::reads_argument:
      return reads_argument;
    case known::passes_on:
      return passes_on;
  }
  return {};
}

[[nodiscard]] bool is_of_reading_library(const source_file& file, const node& function) {
  auto first = function;
  while (first.is("attribute")) first = first.field("object");
  if (!first.is("identifier") || !file.is_library(first.text())) return false;
  return std::ranges::find(reading_libraries, file.package_of(first.text())) !=
         reading_libraries.end();
}

}  // namespace

bool is_known(std::string_view name, known as) {
  const auto names = names_of(as);
  return std::ranges::find(names, name) != names.end();
}

bool reads_by_library(const source_file& file, const node& function) {
  if (is_of_reading_library(file, function)) return true;
  const auto object = function.field("object");
  if (!object.is_any({"identifier", "attribute"})) return false;
  const auto name = object.is("attribute") ? object.field("attribute").text() : object.text();
  bool made = false;
  for (const auto& one : file.named(name)) {
    const auto parent = one.parent();
    const auto pattern = parent.is("pattern_list") ? parent.parent() : parent;
    if (!pattern.is("assignment") || !one.is_in(pattern.field("left"))) continue;
    const auto value = parent.is("pattern_list") ? node() : pattern.field("right");
    if (!value.is("call") || !is_of_reading_library(file, value.field("function"))) return false;
    made = true;
  }
  return made;
}

}  // namespace memtrace::program
