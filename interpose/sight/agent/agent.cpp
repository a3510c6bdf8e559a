// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/agent.h"

#include <atomic>
#include <cstdio>

#include "interpose/ground/base/read_clock.h"
#include "interpose/ground/base/settings.h"
#include "interpose/sight/agent/bridge.h"
#include "interpose/sight/agent/heap_scan_moments.h"
#include "interpose/sight/agent/root_watch.h"
#include "interpose/sight/heap_scan/collector_lists.h"
#include "interpose/sight/heap_scan/deadline.h"
#include "interpose/sight/python/module_search.h"
#include "interpose/sight/python/pending_call.h"
#include "interpose/sight/python/python_api.h"
#include "interpose/sight/python/python_stack.h"

extern "C" const char memtrace_agent_source[];
extern "C" const char memtrace_compiled_code_source[];
extern "C" const char memtrace_generated_statements_source[];
extern "C" const char memtrace_operator_facts_source[];
extern "C" const char memtrace_chosen_values_source[];

namespace memtrace::agent {

namespace detail {

std::atomic<bool> is_waiting{true};
thread_local constinit std::uint64_t last_root = 0;

}  // namespace detail

namespace {

// agent.py in this process: compiled once, then called. All but its outcome needs the GIL, and is
// called by pending calls.

std::atomic<const char*> outcome{nullptr};
std::atomic<bool> is_loaded{false};

// The value of info `agent`, null while it is not known.
const char* program_outcome() noexcept {
  return outcome.load(std::memory_order_acquire);
}

// It stays.
void set_program_outcome(const char* text) noexcept {
  const char* expected = nullptr;
  outcome.compare_exchange_strong(expected, text, std::memory_order_release);
}

bool is_program_loaded() noexcept {
  return is_loaded.load(std::memory_order_acquire);
}

// With the GIL, once: owned for ever.
py load_function = nullptr;
py look_function = nullptr;

struct source_file {
  const char* text;
  const char* name;
};
// One after the other, in the same globals.
constexpr source_file sources[] = {
    {memtrace_agent_source, "<memtrace: agent.py>"},
    {memtrace_compiled_code_source, "<memtrace: compiled_code.py>"},
    {memtrace_generated_statements_source, "<memtrace: generated_statements.py>"},
    {memtrace_operator_facts_source, "<memtrace: operator_facts.py>"},
    {memtrace_chosen_values_source, python_stack::unshown_file},
};
// The program waits meanwhile.
constexpr std::uint64_t living_modules_ns = 50'000'000;

bool compile_program() {
  const python_api& api = python_functions();
  const reference globals(api, api.new_dict());
  const py modules = api.system_object("modules");
  if (!globals || modules == nullptr || !put_bridge(globals.get())) return false;
  if (api.set_item(globals.get(), "__builtins__", api.builtins()) != 0) return false;
  if (api.set_item(globals.get(), "modules", modules) != 0) return false;
  for (const source_file& source : sources) {
    const reference code(api, api.compile(source.text, source.name, python_stack::file_input));
    if (!code) return false;
    const reference result(api, api.evaluate(code.get(), globals.get(), globals.get()));
    if (!result) return false;
  }
  load_function = api.get_item(globals.get(), "load");
  look_function = api.get_item(globals.get(), "look");
  if (load_function == nullptr || look_function == nullptr) return false;
  // Functions hold their globals.
  api.inc_ref(load_function);
  api.inc_ref(look_function);
  return true;
}

void take_outcome(py answer) {
  if (answer == python_functions().none) return;
  static constinit char text[512] = {};
  const std::string_view said = text_of(answer);
  std::snprintf(text, sizeof text, "%.*s", static_cast<int>(said.size()), said.data());
  const bool works = said == "on" || said.starts_with("without ");
  is_loaded.store(works);
  if (works) heap_scan_moments::begin();
  set_program_outcome(text);
}

// A module of another thread is hardly ever running just when a pending call does. Among all the
// objects that the garbage collector knows, of which only the links are read; as a new reference.
py find_living_module(std::uint64_t address, heap_scan::deadline& until) {
  const heap_scan::python_objects* const python = heap_scan::find_python_objects();
  if (python == nullptr) return nullptr;
  py found = nullptr;
  heap_scan::collector_lists(*python->layout).for_each([&](std::uint64_t object) {
    if (object == address) found = heap_scan::object_at(object);
    return found == nullptr && !until.is_over();
  });
  if (found != nullptr) python_functions().inc_ref(found);
  return found;
}

// Compiles agent.py and runs it. It has no outcome yet when the program's state forbids it for the
// moment.
pending_call::outcome load_program(bool helper) {
  using result_of = pending_call::outcome;
  if (!find_python_functions()) {
    set_program_outcome("this Python lacks a function that is needed");
    return result_of::done;
  }
  const python_api& api = python_functions();
  // A tracer or profiler of the program would see our code run.
  if (!helper && python_stack::is_observed(api)) return result_of::in_helper;
  if (load_function == nullptr && !compile_program()) {
    api.clear_error();
    set_program_outcome("the agent could not be compiled");
    return result_of::done;
  }
  const reference answer(api, api.call(load_function, nullptr));
  if (!answer) return helper ? result_of::done : result_of::in_helper_and_raised;
  take_outcome(answer.get());
  return result_of::done;
}

// Lets it look at the modules that root_watch wants, if they are still running.
pending_call::outcome look_at_wanted(bool helper) {
  using result_of = pending_call::outcome;
  const python_api& api = python_functions();
  if (!helper && python_stack::is_observed(api)) return result_of::in_helper;
  heap_scan::deadline until(living_modules_ns);
  for (const auto& [root, misses] : the_root_watch.wanted()) {
    py found = python_stack::find_running_module(api, root);
    if (found == nullptr && misses > 0) found = find_living_module(root, until);
    const reference module(api, found);
    const std::uint64_t start = read_clock(CLOCK_MONOTONIC);
    const reference result(api, module ? api.call(look_function, module.get(), nullptr) : nullptr);
    the_root_watch.looked(root, static_cast<bool>(module), read_clock(CLOCK_MONOTONIC) - start);
    if (module && !result) {
      if (!helper) return result_of::in_helper_and_raised;
      api.clear_error();
    }
  }
  return result_of::done;
}

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
  const char* const known = program_outcome();
  const std::uint32_t generation = to.generation();
  if (known == nullptr || told_generation.exchange(generation) == generation) return;
  to.info(format::info_key::agent, known);
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
