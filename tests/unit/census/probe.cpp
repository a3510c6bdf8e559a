// SPDX-License-Identifier: Apache-2.0
//
// A library for ctypes: a census as libmemtrace.so takes it, where the tensors are the objects of
// one class of Python's, each with memory of its own.
#include <time.h>

#include <string>

#include "interpose/census/take.h"

namespace {

namespace census = memtrace::census;
using memtrace::python_stack::address;
using memtrace::python_stack::load;

constexpr std::uint64_t bytes_of_each = 1024;

class stand_ins final : public census::storage_reader {
 public:
  explicit stand_ins(address type) noexcept : type_(type) {}
  [[nodiscard]] bool is_tensor(address object) const noexcept override {
    return load<address>(object, memtrace::python_stack::object::type) == type_;
  }
  [[nodiscard]] bool is_storage(address) const noexcept override { return false; }
  [[nodiscard]] bool has_graph(address) const noexcept override { return false; }
  [[nodiscard]] bool read_tensor(address tensor,
                                 census::seen_storage& seen) const noexcept override {
    seen = {tensor, bytes_of_each, bytes_of_each, false};
    return true;
  }
  [[nodiscard]] bool read_gradient(address, census::seen_storage&) const noexcept override {
    return false;
  }
  [[nodiscard]] bool read_storage(address, census::seen_storage&) const noexcept override {
    return false;
  }
  void walk_graphs(census::search&) override {}

 private:
  const address type_;
};

std::string rows;
census::findings last;
double cpu_seconds = 0;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

#define PROBE extern "C" __attribute__((visibility("default")))

// Takes a census of the objects of this class. `allocated` 0: everything is searched.
PROBE void probe_census(unsigned long type, unsigned long allocated, unsigned long most_objects) {
  stand_ins reader(type);
  census::limits limits;
  limits.nanoseconds = 60'000'000'000;  // a loaded machine must not decide
  limits.objects = most_objects;
  limits.allocated = allocated;
  const double start = thread_seconds();
  last = census::find_held(reader, limits, 0);
  cpu_seconds = thread_seconds() - start;
}

// "address\0name\0detail\0flags\0" of each storage; the size goes to *size.
PROBE const char* probe_rows(unsigned long* size) {
  rows.clear();
  for (const census::named_storage& held : last.storages) {
    for (const std::string& field :
         {std::to_string(held.address), held.name, held.detail, std::to_string(held.flags)}) {
      rows.append(field).append(1, '\0');
    }
  }
  *size = rows.size();
  return rows.data();
}

PROBE unsigned long probe_objects() {
  return last.objects;
}
PROBE int probe_is_incomplete() {
  return last.is_incomplete ? 1 : 0;
}
PROBE double probe_cpu_seconds() {
  return cpu_seconds;
}
