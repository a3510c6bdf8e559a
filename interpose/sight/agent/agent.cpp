// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/agent.h"

#include "interpose/ground/base/settings.h"
#include "interpose/sight/agent/agent_program.h"
#include "interpose/sight/agent/heap_scan_moments.h"
#include "interpose/sight/agent/root_watch.h"
#include "interpose/sight/python/pending_call.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::agent {

namespace detail {

std::atomic<bool> is_waiting{true};
thread_local constinit std::uint64_t last_root = 0;

}  // namespace detail

namespace {

enum class stage : std::uint8_t { unloaded, loaded, off };
std::atomic<stage> now{stage::unloaded};

// A program in a state that forbids loading the agent is asked again after so many events.
constexpr std::uint32_t first_pause = 16;
constexpr std::uint32_t longest_pause = 4096;
std::atomic<std::uint32_t> pause{first_pause};
std::atomic<std::uint32_t> events_left{0};

constinit pending_call load_call{load_program};
constinit pending_call look_call{look_at_wanted};

std::atomic<std::uint32_t> told_generation{0};

// Whether the agent runs, or why not, in each recording of this process.
void record_outcome(recorder& to) noexcept {
  const char* const outcome = program_outcome();
  const std::uint32_t generation = to.generation();
  if (outcome == nullptr || told_generation.exchange(generation) == generation) return;
  to.info(format::info_key::agent, outcome);
}

void switch_off(const char* reason) noexcept {
  set_program_outcome(reason);
  now.store(stage::off);
}

void see_unloaded() noexcept {
  if (!settings::is_on(capability::agent)) {
    return switch_off(settings::mode() == recording_mode::minimal ? "MEMTRACE=minimal"
                                                                  : "MEMTRACE_AGENT=0");
  }
  switch (python_stack::state()) {
    case python_stack::stacks::off:
      return switch_off(python_stack::interpreter_version()[0] == '\0' ? "no Python in this process"
                                                                       : "Python stacks are off");
    case python_stack::stacks::unknown:
      return;
    case python_stack::stacks::on:
      break;
  }
  if (program_outcome() != nullptr) {
    now.store(is_program_loaded() ? stage::loaded : stage::off);
    return;
  }
  if (load_call.has_run()) {
    // It could not be loaded then.
    if (events_left.fetch_sub(1) > 1) return;
    const std::uint32_t length = pause.load(std::memory_order_relaxed);
    events_left.store(length);
    pause.store(length < longest_pause ? length * 2 : length);
    load_call.again();
  }
  load_call.request();
}

}  // namespace

void detail::see_waiting(recorder& to) noexcept {
  if (now.load() == stage::unloaded) see_unloaded();
  const stage reached = now.load();
  if (reached != stage::unloaded) record_outcome(to);
  if (reached == stage::off) is_waiting.store(false);
  if (reached != stage::loaded) return;
  if (the_root_watch.is_idle()) {
    is_waiting.store(false);
    return;
  }
  if (look_call.has_run()) look_call.again();
  look_call.request();
}

void detail::see_other_root(recorder& to, std::uint64_t root) noexcept {
  last_root = root;
  if (root == 0 || now.load(std::memory_order_relaxed) != stage::loaded) return;
  heap_scan_moments::see_call();
  if (the_root_watch.see(root, to.generation())) is_waiting.store(true);
}

void detail::see_published_free(std::uint64_t address) noexcept {
  if (the_published_memory.remove(address)) the_root_watch.parameters_moved();
}

void in_forked_child() noexcept {
  the_root_watch.restart();
  the_published_memory.restart();
  detail::is_waiting.store(true);
  detail::last_root = 0;
}

void record_at_end(recorder& to) noexcept {
  if (now.load() == stage::unloaded && program_outcome() == nullptr) {
    to.info(format::info_key::agent,
            "it did not run: no PyTorch in this Python, or the end came first");
    return;
  }
  record_outcome(to);
}

}  // namespace memtrace::agent
