// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "analyzer/judge/program/later_uses.h"

namespace memtrace::program {

namespace {

[[nodiscard]] bool is_narrow_type(const source_file& source, node argument) {
  if (argument.is("keyword_argument")) argument = argument.field("value");
  if (!argument.is("attribute")) return false;
  const auto type = argument.field("attribute").text();
  return (type == "float16" || type == "half" || type == "bfloat16") &&
         source.package_of(argument.field("object").text()) == "torch";
}

// model.half(), model.bfloat16(), model.to(torch.float16); nothing: it is another call.
[[nodiscard]] bool narrows(const source_file& source, const node& call) {
  const auto method = call.field("function").field("attribute").text();
  if (method == "half" || method == "bfloat16") return count_of_arguments(call) == 0;
  const auto given = arguments_of(call);
  return method == "to" && std::ranges::any_of(given, [&](const node& argument) {
           return is_narrow_type(source, argument);
         });
}

// model.to("cuda").half()
[[nodiscard]] node narrowed_in_chain(const source_file& source, node call) {
  while (call) {
    const auto attribute = call.parent();
    const bool is_chain = attribute.is("attribute") && attribute.field("object") == call &&
                          attribute.parent().field("function") == attribute;
    call = is_chain ? attribute.parent() : node();
    if (call && narrows(source, call)) return call;
  }
  return {};
}

// model.to("cuda")
// model.half()
[[nodiscard]] node narrowed_later(const source_file& source, const node& call) {
  const auto moved = call.field("function").field("object");
  const auto left = call.parent().is("assignment") ? call.parent().field("left") : node();
  const auto held = left ? left : moved;
  if (!held.is_any({"identifier", "attribute"})) return {};
  const auto name = held.is("attribute") ? held.field("attribute").text() : held.text();
  for (const auto& use : source.named(name)) {
    const bool is_later = use.begin() >= call.end() && use.flat_text() == held.flat_text() &&
                          source.function_of(use) == source.function_of(call);
    if (!is_later) continue;
    const auto next = use.parent().parent();
    if (use.parent().is("attribute") && next.is("call") && narrows(source, next)) return next;
    if (given_by(use) && !narrows(source, given_by(use).field("right"))) return {};
  }
  return {};
}

}  // namespace

std::uint32_t narrowed_at(const source_file& file, std::uint32_t line) {
  for (const auto* method : {"to", "cuda"}) {
    for (const auto& one : file.named(method)) {
      const auto call = one.parent();
      const bool is_move = one.is("attribute") && call.field("function") == one &&
                           call.line() <= line && line <= call.last_line();
      if (!is_move || narrows(file, call)) continue;
      auto narrowing = narrowed_in_chain(file, call);
      if (!narrowing) narrowing = narrowed_later(file, call);
      if (narrowing) return narrowing.last_line();
    }
  }
  return 0;
}

}  // namespace memtrace::program
