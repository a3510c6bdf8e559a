// SPDX-License-Identifier: Apache-2.0
// The function behind every generated one: answers from the table, writes the out-parameters.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "simulator/core/call_log.h"
#include "simulator/core/export.h"
#include "simulator/log/log.h"
#include "simulator/stubs/device_writes.h"
#include "simulator/stubs/function_facts.h"

namespace memtrace::simulator {
namespace {

// As simulator/program/elf_writer.h lays it out: the name's characters follow.
struct call_record {
  std::atomic<const function_facts*> facts;
  [[nodiscard]] const char* name() const { return reinterpret_cast<const char*>(this + 1); }
};
static_assert(sizeof(call_record) == 8);

std::uint64_t new_handle() {
  // Not a valid address: a program that looks inside a handle faults instead of reading garbage.
  static std::atomic<std::uint64_t> next{0x00dd'0000'0000'0000};
  return next.fetch_add(0x100, std::memory_order_relaxed);
}

int new_small_handle() {
  static std::atomic<int> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

template <class T>
void put(std::uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

std::size_t bytes_of(output what) {
  return what == output::integer || what == output::single ? 4 : 8;
}

void write_on_device(output what, std::uint64_t address) {
  if (what == output::data) return computed_on_device(address);
  const bool is_number = what == output::integer || what == output::size ||
                         what == output::single || what == output::real;
  if (is_number) zero_on_device(address, bytes_of(what));
}

void write_output(output what, std::uint64_t address) {
  if (address == 0) return;  // optional outputs may be null
  if (is_on_device(address)) return write_on_device(what, address);
  switch (what) {
    case output::none:
    case output::data:  // on the host it is a parameter of the call
      return;
    case output::handle:
      return put(address, new_handle());
    case output::small_handle:
      return put(address, new_small_handle());
    case output::size:
      return put(address, std::size_t{0});
    case output::integer:
      return put(address, int{0});
    case output::real:
      return put(address, 0.0);
    case output::single:
      return put(address, 0.0F);
    case output::pointer:
      return put(address, std::uint64_t{0});
  }
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// A name outside the table whose caller would miss what it should have done or written.
bool sounds_needed(std::string_view name) {
  const library of = library_of(name);
  if (of == library::nvshmem || of == library::cufile) return true;
  for (const char* part : {"Get", "Create", "BufferSize", "bufferSize", "Workspace", "Query",
                           "Alloc", "Init", "Import", "Export", "Find", "Retrieve"}) {
    if (has(name, part)) return true;
  }
  return false;
}

const function_facts* facts_for(call_record& record) {
  const function_facts* known = record.facts.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  const std::string_view name = record.name();
  known = find_facts(name);
  if (known == nullptr) {  // lives as long as the process, as its record does
    known =
        new function_facts{name, sounds_needed(name) ? answer::unsupported : answer::does_nothing};
  }
  const bool loud = known->does == answer::unsupported;
  if (record.facts.exchange(known, std::memory_order_acq_rel) == nullptr) {
    log_call(loud ? "unsupported" : "does_nothing", record.name());
    if (loud) {
      log::warn("the simulated GPU has no {}; the program got \"not supported\"", record.name());
    }
  }
  return known;
}

}  // namespace
}  // namespace memtrace::simulator

MEMTRACE_API std::uint64_t memtrace_simulator_dispatch(void* opaque, const std::uint64_t* registers,
                                                       const std::uint64_t* stack) {
  using namespace memtrace::simulator;
  const function_facts* facts = facts_for(*static_cast<call_record*>(opaque));
  for (const out_parameter& each : facts->outputs) {
    if (each.what == output::none) break;
    write_output(each.what, each.slot < 6 ? registers[each.slot] : stack[each.slot - 6]);
  }
  switch (facts->does) {
    case answer::unsupported:
      return not_supported(library_of(facts->name));
    case answer::text:
      return reinterpret_cast<std::uint64_t>("simulated");
    case answer::does_nothing:
    case answer::zero:
      return 0;
  }
  return 0;
}
