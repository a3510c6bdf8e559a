// SPDX-License-Identifier: Apache-2.0
//
// Everything that runs inside the traced process, one row a thing. MEMTRACE chooses a mode; a row
// is on from its mode upwards, and its own variable turns it off (0) or on (anything else) by
// itself.
//
//   minimal ⊂ standard (without MEMTRACE) ⊂ full          asked: only by its own variable
//
// A recording tells what was on: info `mode`, and info `capabilities` with the names of the rows,
// separated by spaces. What each costs: docs/settings.md.
//
// Graphs are walked inside a heap scan: in standard only where one is taken because memory grows or
// has run out, at exit, or when asked. Without, what keeps a leaked graph's memory has no name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace memtrace {

enum class recording_mode : std::uint8_t { minimal, standard, full, asked };

// X(name, variable, on from, what a report lacks where it is off)
#define MEMTRACE_CAPABILITIES(X)                                                                  \
  X(python_stacks, "MEMTRACE_PYTHON_STACKS", minimal, "the lines of Python behind the memory")    \
  X(deep_binding, "MEMTRACE_DEEP_BINDING", minimal,                                               \
    "CUDA calls of libraries that are bound to their own names")                                  \
  X(allocator_methods, "MEMTRACE_ALLOCATOR_METHODS", standard,                                    \
    "calls of empty_cache, memory pools and limits, without which a replay is not exact")         \
  X(agent, "MEMTRACE_AGENT", standard, "the names of modules, parameters and optimizer states")   \
  X(optimizer_hooks, "MEMTRACE_OPTIMIZER_HOOKS", standard, "optimizer steps, gradients, states")  \
  X(autograd, "MEMTRACE_AUTOGRAD", standard,                                                      \
    "what is saved for backward, and the forward lines behind backward's memory")                 \
  X(source, "MEMTRACE_SOURCE", standard, "the lines of the program that bound what grows")        \
  X(nvtx, "MEMTRACE_NVTX", standard, "phases marked with NVTX")                                   \
  X(sampling, "MEMTRACE_SAMPLING", standard, "host memory, and the device as a whole")            \
  X(nvml, "MEMTRACE_NVML", standard, "what other processes hold on the device")                   \
  X(census, "MEMTRACE_CENSUS", standard, "what keeps memory alive")                               \
  X(graph_walks, "MEMTRACE_GRAPH_WALKS", standard, "memory that a kept autograd graph holds")     \
  X(step_census, "MEMTRACE_STEP_CENSUS", full, "who held the memory in the middle of the run")    \
  X(cupti, "MEMTRACE_CUPTI", full, "a second witness, for memtrace audit")                        \
  X(lengths, "MEMTRACE_LENGTHS", asked, "how long the containers of what grows are at each step") \
  X(census_signal, "MEMTRACE_CENSUS_SIGNAL", asked, "a census when SIGUSR2 asks for one")         \
  X(native_stacks, "MEMTRACE_NATIVE_STACKS", asked, "C++ frames of every call of CUDA")

enum class capability : std::uint8_t {
#define MEMTRACE_ROW(name, variable, from, lacks) name,
  MEMTRACE_CAPABILITIES(MEMTRACE_ROW)
#undef MEMTRACE_ROW
};

struct capability_row {
  capability which;
  const char* name;
  const char* variable;
  recording_mode from;
  const char* lacks;
};

inline constexpr capability_row capability_rows[] = {
#define MEMTRACE_ROW(name, variable, from, lacks) \
  {capability::name, #name, variable, recording_mode::from, lacks},
    MEMTRACE_CAPABILITIES(MEMTRACE_ROW)
#undef MEMTRACE_ROW
};
inline constexpr std::size_t capability_count = std::size(capability_rows);

inline constexpr std::array<const char*, 3> recording_mode_names = {"minimal", "standard", "full"};

[[nodiscard]] constexpr std::optional<recording_mode> recording_mode_named(std::string_view word) {
  for (std::size_t i = 0; i < recording_mode_names.size(); ++i) {
    if (word == recording_mode_names[i]) return static_cast<recording_mode>(i);
  }
  return std::nullopt;
}

// The capabilities that a mode turns on where no variable of a row's own says otherwise.
[[nodiscard]] constexpr bool is_on_by_default(const capability_row& row, recording_mode mode) {
  return row.from != recording_mode::asked && row.from <= mode;
}

}  // namespace memtrace
