// SPDX-License-Identifier: Apache-2.0
//
// A program as its trace would tell of it, and the verdicts on it, all the way through the report's
// loading: what a line keeps, what streams, when steps end.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/model/load.h"
#include "tests/unit/support/trace_builder.h"

namespace memtrace::test {

class made_up_program {
 public:
  static constexpr std::uint64_t capacity = 16_GiB;

  made_up_program() {
    trace_.device(0, 17_GiB, capacity, "a GPU");
    trace_.device(1, 17_GiB, capacity, "another GPU");
    optimizer_ = trace_.object(0x1000);
    second_optimizer_ = trace_.object(0x2000);
    model_ = trace_.object(0x3000);
    second_model_ = trace_.object(0x4000);
    thread_ = trace_.thread(4711, "python");
    trace_.context(0, thread_);
  }

  // By the line of train.py that asks for it; returns its address.
  std::uint64_t alloc(std::uint64_t line, std::uint64_t bytes) {
    const auto stack = stack_of(line);
    next_ += (bytes + 511) / 512 * 512;
    trace_.record(format::kind::alloc, next_, bytes, stack);
    sizes_[next_] = bytes;
    count();
    return next_;
  }
  void free(std::uint64_t address) {
    trace_.record(format::kind::free_requested, address, sizes_[address]);
    trace_.record(format::kind::free_completed, address, sizes_[address]);
    sizes_.erase(address);
    count();
  }
  void free_all() {
    const auto all = sizes_;
    for (const auto& [address, bytes] : all) free(address);
  }
  // Memory that goes before the step ends.
  void stream(std::uint64_t line, std::uint64_t bytes) { free(alloc(line, bytes)); }
  // In place of the block at `address`, which goes once the new one is there.
  std::uint64_t replace(std::uint64_t address, std::uint64_t line, std::uint64_t bytes) {
    const auto fresh = alloc(line, bytes);
    if (address != 0) free(address);
    return fresh;
  }

  void step() { ended(format::step_source::optimizer, optimizer_); }
  void second_step() { ended(format::step_source::optimizer, second_optimizer_); }
  void user_step() { ended(format::step_source::user, 0); }

  // From here on all happens on this device, or stream.
  void on_device(std::uint64_t device) {
    device_ = device;
    trace_.context(device_, thread_);
  }
  void on_stream(std::uint64_t stream) { trace_.on_stream(stream); }
  void in_scope(const scope_numbers& scope) {
    scope_ = scope;
    trace_.scope(scope_);
  }
  [[nodiscard]] std::uint64_t model() const { return model_; }
  [[nodiscard]] std::uint64_t second_model() const { return second_model_; }
  [[nodiscard]] std::uint64_t stack_of(std::uint64_t line) {
    auto& stack = stacks_[line];
    if (stack == 0) {
      stack =
          trace_.stack({{"/srv/ada/train.py", 3, "main"},
                        {"/srv/ada/train.py", line, "train"},
                        {"/venv/lib/python3.11/site-packages/torch/nn/functional.py", 7, "relu"}});
    }
    return stack;
  }
  trace_builder& trace() { return trace_; }

  [[nodiscard]] verdicts::findings verdicts_on(bool killed = false,
                                               const run::load_options& how = {}) {
    const auto bytes = killed ? trace_.bytes() : trace_.clean_exit();
    trace::memory_source source(std::as_bytes(std::span(bytes)));
    auto reader = trace::reader::open(source);
    report_ = run::load("made_up.mtrace", *reader, how);
    return report_.findings;
  }
  // The user's innermost line of a suspect's allocation, after verdicts_on.
  [[nodiscard]] std::uint64_t line_of(const verdicts::suspect& suspect) const {
    const auto stack = suspect.stack ? suspect.stack : suspect.forward;
    for (const auto& frame : report_.verdict_frames.at(stack)) {
      if (frame.user) return frame.line;
    }
    throw std::out_of_range("no frame of the user");
  }

 private:
  void ended(format::step_source source, std::uint64_t object) {
    trace_.step(source, object, "");
    fresh_block();
  }
  void count() {
    if (++since_block_ == 150) fresh_block();
  }
  void fresh_block() {
    trace_.end_block();
    since_block_ = 0;
    trace_.context(device_, thread_);
    trace_.scope(scope_);
  }

  trace_builder trace_;
  std::map<std::uint64_t, std::uint64_t> stacks_;
  std::map<std::uint64_t, std::uint64_t> sizes_;
  std::uint64_t next_ = 0x7f0000000000;
  std::uint64_t optimizer_ = 0;
  std::uint64_t second_optimizer_ = 0;
  std::uint64_t model_ = 0;
  std::uint64_t second_model_ = 0;
  std::uint64_t thread_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t since_block_ = 0;
  scope_numbers scope_;
  run::process_report report_;
};

[[nodiscard]] inline const verdicts::verdict& about(const verdicts::findings& found,
                                                    const std::string& subject) {
  for (const auto& one : found.verdicts) {
    if (name_of(one.about) == subject) return one;
  }
  throw std::out_of_range("no verdict on " + subject);
}

[[nodiscard]] inline std::vector<std::string> leaks_in(const verdicts::findings& found) {
  std::vector<std::string> leaks;
  for (const auto& one : found.verdicts) {
    if (is_leak(one.found.shape)) leaks.push_back(name_of(one.about));
  }
  return leaks;
}

}  // namespace memtrace::test
