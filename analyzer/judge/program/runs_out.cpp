// SPDX-License-Identifier: Apache-2.0
//
// R7: what is put in is taken out of something else, and so comes to an end with it, unless that is
// filled again.
//
//   self.seen.append(self.waiting.pop())        while waiting: done.append(waiting.popleft())
#include <algorithm>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

[[nodiscard]] bool takes_from_another(const case_at_hand& in, const node& what) {
  return std::ranges::any_of(what.all(), [&](const node& one) {
    if (!one.is("call")) return false;
    const auto method = one.field("function");
    if (method.text() == "next") return arguments_of(one).size() == 2;  // next(rest, None)
    if (!method.is("attribute")) return false;
    const auto name = method.field("attribute").text();
    return (name == "pop" || name == "popleft" || name == "popitem") &&
           !means_any(in.file, method.field("object"), in.uses);
  });
}

}  // namespace

bool runs_out(const case_at_hand& in, const use& grows) {
  const auto value = unwrapped(grows.value);
  if (takes_from_another(in, value)) return true;
  if (!value.is("identifier")) return false;
  const auto given = in.value.only_value_of(value);
  return given && takes_from_another(in, given);
}

}  // namespace memtrace::program
