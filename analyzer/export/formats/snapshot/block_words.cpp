// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/block_words.h"

#include <string>

namespace memtrace::exporting {

namespace {

void add(std::string& to, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!to.empty()) to += "; ";
  to += name;
  to += ": ";
  to += value;
}

}  // namespace

pickle::memo block_words::of(const block& one) {
  auto& known = known_[{one.fate, one.what}];
  if (known != 0) return known;
  std::string words;
  add(words, "category", attribution::name_of(one.what));
  add(words, "name", name_of(from_, one));
  if (one.fate != nullptr) {
    add(words, "detail", from_.names[one.fate->detail]);
    add(words, "node", from_.names[one.fate->node]);
  }
  add(words, "module", module_of(from_, one));
  add(words, "phase", attribution::name_of(one.born_in));
  add(words, "evidence", attribution::name_of(one.how));
  return known = to_.define_text(words);
}

pickle::memo block_words::category_of(const block& one) {
  if (one.what == attribution::category::unknown) return static_cast<pickle::memo>(word::unknown);
  auto& known = categories_[one.what];
  if (known == 0) known = to_.define_text(attribution::name_of(one.what));
  return known;
}

}  // namespace memtrace::exporting
