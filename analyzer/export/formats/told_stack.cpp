// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/told_stack.h"

namespace memtrace::exporting {

namespace {

void add(const process& from, trace::stack_id stack, std::vector<told_frame>& to) {
  for (const auto& frame : frames_outermost_first(from, stack)) {
    to.push_back({frame.function, frame.file, frame.line});
  }
}

}  // namespace

stack_key stack_of(const block& one) {
  stack_key key;
  key.stack = one.stack;
  if (!one.stack) key.thread = one.thread;
  if (one.fate != nullptr) {
    key.forward = one.fate->forward;
    key.node = one.fate->node;
  }
  return key;
}

std::vector<told_frame> told_stack(const process& from, const stack_key& which) {
  std::vector<told_frame> frames;
  add(from, which.stack, frames);
  if (frames.empty()) frames.push_back({thread_words(from, which.thread), {}, 0});
  if (which.node || which.forward) {
    const auto node = from.names[which.node];
    frames.push_back(
        {"gradient of " + (node.empty() ? std::string("a call") : std::string(node)), {}, 0});
  }
  add(from, which.forward, frames);
  return frames;
}

}  // namespace memtrace::exporting
