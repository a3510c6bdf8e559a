// SPDX-License-Identifier: Apache-2.0
//
// A library for ctypes: a heap scan as libmemtrace.so takes it, where the tensors are the objects
// of one class of Python's, each with memory of its own.
#include <time.h>

#include <iterator>
#include <string>

#include "interpose/sight/heap_scan/name_object.h"
#include "interpose/sight/heap_scan/object_check.h"
#include "interpose/sight/heap_scan/take.h"
#include "interpose/sight/python/interpreter.h"

namespace {

namespace heap_scan = memtrace::heap_scan;
using memtrace::python_stack::address;
using memtrace::python_stack::load;

constexpr std::uint64_t bytes_of_each = 1024;

class stand_ins final : public heap_scan::storage_reader {
 public:
  explicit stand_ins(address type) noexcept : type_(type) {}
  [[nodiscard]] bool is_tensor(address object) const noexcept override {
    return load<address>(object, memtrace::python_stack::object::type) == type_;
  }
  [[nodiscard]] bool is_storage(address) const noexcept override { return false; }
  [[nodiscard]] bool has_graph(address) const noexcept override { return false; }
  [[nodiscard]] bool read_tensor(address tensor,
                                 heap_scan::seen_storage& seen) const noexcept override {
    seen = {tensor, bytes_of_each, bytes_of_each, false, {}};
    return true;
  }
  [[nodiscard]] bool read_gradient(address, heap_scan::seen_storage&) const noexcept override {
    return false;
  }
  [[nodiscard]] bool read_storage(address, heap_scan::seen_storage&) const noexcept override {
    return false;
  }
  void walk_graphs(heap_scan::search&) override {}

 private:
  const address type_;
};

// PyMemAllocatorEx, and the domains of PyMem_ and PyObject_Malloc.
struct allocator {
  void* context;
  void* (*malloc)(void* context, std::size_t size);
  void* (*calloc)(void* context, std::size_t count, std::size_t size);
  void* (*realloc)(void* context, void* block, std::size_t size);
  void (*free)(void* context, void* block);
};
constexpr int domains[] = {1, 2};

allocator real[std::size(domains)];
unsigned long allocator_calls = 0;

const allocator& behind(void* context) {
  ++allocator_calls;
  return *static_cast<allocator*>(context);
}

void* counted_malloc(void* context, std::size_t size) {
  const allocator& to = behind(context);
  return to.malloc(to.context, size);
}
void* counted_calloc(void* context, std::size_t count, std::size_t size) {
  const allocator& to = behind(context);
  return to.calloc(to.context, count, size);
}
void* counted_realloc(void* context, void* block, std::size_t size) {
  const allocator& to = behind(context);
  return to.realloc(to.context, block, size);
}
void counted_free(void* context, void* block) {
  const allocator& to = behind(context);
  to.free(to.context, block);
}

// Counts the calls of Python's allocators for as long as it lives.
class counted_allocators {
 public:
  counted_allocators() {
    for (std::size_t i = 0; i < std::size(domains); ++i) {
      get_(domains[i], &real[i]);
      allocator counted{&real[i], counted_malloc, counted_calloc, counted_realloc, counted_free};
      set_(domains[i], &counted);
    }
  }
  ~counted_allocators() {
    for (std::size_t i = 0; i < std::size(domains); ++i) set_(domains[i], &real[i]);
  }
  counted_allocators(const counted_allocators&) = delete;
  counted_allocators& operator=(const counted_allocators&) = delete;

 private:
  using function = void (*)(int, allocator*);
  const function get_ = memtrace::python_stack::find_function<function>("PyMem_GetAllocator");
  const function set_ = memtrace::python_stack::find_function<function>("PyMem_SetAllocator");
};

std::string rows;
heap_scan::findings last;
double cpu_seconds = 0;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

#define PROBE extern "C" __attribute__((visibility("default")))

// Takes a heap scan of the objects of this class. `allocated` 0: everything is searched. With the
// time that a heap scan really has, or as much as a loaded machine may need.
PROBE void probe_heap_scan(unsigned long type, unsigned long allocated, unsigned long most_objects,
                           int in_time) {
  stand_ins reader(type);
  heap_scan::limits limits;
  if (in_time == 0) limits.nanoseconds = 60'000'000'000;
  limits.objects = most_objects;
  limits.allocated = allocated;
  const double start = thread_seconds();
  last = heap_scan::find_held(reader, limits, {});
  cpu_seconds = thread_seconds() - start;
}

// With this error set meanwhile: 1 when it is set afterwards, too.
PROBE int probe_with_error(void* error, unsigned long type) {
  using memtrace::python_stack::find_function;
  const auto set = find_function<void (*)(void*)>("PyErr_SetNone");
  const auto occurred = find_function<void* (*)()>("PyErr_Occurred");
  const auto clear = find_function<void (*)()>("PyErr_Clear");
  set(error);
  probe_heap_scan(type, 0, 2'000'000, 0);
  const bool is_set = occurred() == error;
  clear();
  return is_set && !last.storages.empty() ? 1 : 0;
}

// How often a heap scan calls an allocator of Python's, to allocate or to free.
PROBE unsigned long probe_allocator_calls(unsigned long type) {
  allocator_calls = 0;
  const counted_allocators counting;
  probe_heap_scan(type, 0, 2'000'000, 0);
  return allocator_calls;
}
// The counting's count without one.
PROBE unsigned long probe_counted_calls() {
  allocator_calls = 0;
  const counted_allocators counting;
  const auto make = memtrace::python_stack::find_function<void* (*)(std::ptrdiff_t)>("PyList_New");
  const auto drop = memtrace::python_stack::find_function<void (*)(void*)>("Py_DecRef");
  drop(make(100));
  return allocator_calls;
}

// "address\0name\0detail\0flags\0" of each storage; the size goes to *size.
PROBE const char* probe_rows(unsigned long* size) {
  rows.clear();
  for (const heap_scan::named_storage& held : last.storages) {
    for (const std::string& field :
         {std::to_string(held.address), held.name, held.detail, std::to_string(held.flags)}) {
      rows.append(field).append(1, '\0');
    }
  }
  *size = rows.size();
  return rows.data();
}

// "path\0owner\0file\0line\0holder\0is_tensor\0" of an object; null: no name leads to it.
PROBE const char* probe_name_of(void* object, unsigned long type, unsigned long* size) {
  const auto found = heap_scan::name_object(reinterpret_cast<address>(object), stand_ins(type),
                                            {.nanoseconds = 60'000'000'000});
  if (!found) return nullptr;
  rows.clear();
  for (const std::string& field :
       {found->path, found->owner, found->file, std::to_string(found->line), found->holder,
        std::to_string(found->is_tensor ? 1 : 0)}) {
    rows.append(field).append(1, '\0');
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

// Whether objects are where they should be, if one of the offsets that depend on the version is
// wrong by so many bytes; by 0: as it is. -1: this Python has no such offset; -2: that was the
// last.
PROBE int probe_check_objects(unsigned which, int bytes, void* leave) {
  static std::uint16_t heap_scan::object_layout::*const offsets[] = {
      &heap_scan::object_layout::cached_keys,     &heap_scan::object_layout::generator_frame,
      &heap_scan::object_layout::generator_state, &heap_scan::object_layout::thread_exceptions,
      &heap_scan::object_layout::exception_value, &heap_scan::object_layout::exception_previous,
      &heap_scan::object_layout::thread_context,  &heap_scan::object_layout::code_variable_count,
      &heap_scan::object_layout::code_variables,  &heap_scan::object_layout::code_free,
      &heap_scan::object_layout::code_cells,      &heap_scan::object_layout::tuple_items,
      &heap_scan::object_layout::frozen,
  };
  static std::int16_t heap_scan::object_layout::*const before[] = {
      &heap_scan::object_layout::values, &heap_scan::object_layout::managed_dict};
  const heap_scan::python_objects* const python = heap_scan::find_python_objects();
  heap_scan::object_layout layout = *python->layout;
  if (which < std::size(offsets)) {
    std::uint16_t& offset = layout.*offsets[which];
    if (offset == memtrace::python_stack::not_there) return -1;
    offset = static_cast<std::uint16_t>(offset + bytes);
  } else if (which < std::size(offsets) + std::size(before)) {
    std::int16_t& offset = layout.*before[which - std::size(offsets)];
    if (offset == 0) return -1;
    offset = static_cast<std::int16_t>(offset + bytes);
  } else {
    return -2;
  }
  heap_scan::python_objects copy = *python;
  copy.layout = &layout;
  const auto verdict = check_objects(copy, static_cast<memtrace::python_stack::py>(leave));
  return verdict == heap_scan::object_verdict::agrees ? 1 : 0;
}
