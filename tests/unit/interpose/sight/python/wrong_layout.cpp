// SPDX-License-Identifier: Apache-2.0
//
// layout_of() with a mistake in it, chosen by MEMTRACE_TEST_MISTAKE: what an interpreter with
// another layout looks like to us. The self-check must see every one of them.
#include <cstdlib>
#include <cstring>

#define layout_of right_layout_of
#include "interpose/sight/python/layout.cpp"
#undef layout_of

namespace memtrace::python_stack {

namespace {

layout with_mistake(layout offsets, const char* mistake) {
  const bool indexed = offsets.code_instructions == not_there;
  if (std::strcmp(mistake, "name") == 0) offsets.code_name = offsets.code_file;
  if (std::strcmp(mistake, "file") == 0) offsets.code_file = offsets.code_name;
  if (std::strcmp(mistake, "first_line") == 0) offsets.code_first_line += 4;
  if (std::strcmp(mistake, "instruction") == 0) {
    if (indexed) offsets.index_scale = 3;
    if (!indexed) offsets.code_instructions += 4;
  }
  if (std::strcmp(mistake, "text") == 0) offsets.text_compact += 1;
  return offsets;
}

}  // namespace

const layout* layout_of(unsigned major, unsigned minor) noexcept {
  static layout changed;
  const layout* const right = right_layout_of(major, minor);
  const char* const mistake = std::getenv("MEMTRACE_TEST_MISTAKE");
  if (right == nullptr || mistake == nullptr) return right;
  changed = with_mistake(*right, mistake);
  return &changed;
}

}  // namespace memtrace::python_stack
