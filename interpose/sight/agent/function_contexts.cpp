// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/function_contexts.h"

#include "interpose/sight/autograd/python_nodes.h"
#include "interpose/sight/autograd/tensor_records.h"
#include "interpose/sight/autograd/tensor_storages.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::agent {

namespace {

using census::address;
using census::python_objects;
using python_stack::py;

// Of what a context holds: it is to hold tensors, and no data.
constexpr unsigned most_values = 1024;

struct gil_functions {
  int (*is_initialized)() = nullptr;
  int (*ensure)() = nullptr;  // PyGILState_STATE, an enum
  void (*release)(int) = nullptr;
};

const gil_functions& gil() noexcept {
  using python_stack::find_function;
  static const gil_functions found{find_function<int (*)()>("Py_IsInitialized"),
                                   find_function<int (*)()>("PyGILState_Ensure"),
                                   find_function<void (*)(int)>("PyGILState_Release")};
  return found;
}

class kept_tensors {
 public:
  kept_tensors(recorder& to, const python_objects& python) noexcept : to_(to), python_(python) {}

  void record_attributes(address context) noexcept {
    const auto each = [this](address, address value) {
      record(value);
      return left_ != 0;
    };
    census::for_each_pair(python_, census::instance_dict(python_, context), each);
    census::for_each_inline_value(python_, context, each);
  }

 private:
  bool record_tensor(address value) noexcept {
    if (left_ == 0) return false;
    --left_;
    const py object = census::object_at(value);
    if (!autograd::is_tensor(object)) return true;
    // Of the tensor itself: parts of a wrapper are asked for through Python.
    constexpr int no_parts = 0;
    autograd::for_each_storage(
        object,
        [this](const autograd::gpu_storage& found) {
          autograd::record_saved(to_, found.impl, format::saved_attribute);
        },
        no_parts);
    return true;
  }

  void record(address value) noexcept {
    if (!record_tensor(value)) return;
    const py object = census::object_at(value);
    if (python_stack::is_dict(object)) {
      census::for_each_pair(python_, value,
                            [this](address, address item) { return record_tensor(item); });
      return;
    }
    (void)python_stack::each_item_of(object,
                                     [this](py item) { return record_tensor(address_of(item)); });
  }

  recorder& to_;
  const python_objects& python_;
  unsigned left_ = most_values;
};

// PyGILState_Ensure ends a thread by unwinding it when the interpreter is going away: hence no
// noexcept, and nothing to destroy.
void read(recorder& to, std::uint64_t context) {
  const python_objects* const python = census::find_python_objects();
  if (python == nullptr || gil().is_initialized() == 0) return;
  const int previous = gil().ensure();
  kept_tensors(to, *python).record_attributes(context);
  gil().release(previous);
}

}  // namespace

void watch_function_contexts() noexcept {
  const gil_functions& functions = gil();
  if (functions.is_initialized == nullptr || functions.ensure == nullptr ||
      functions.release == nullptr) {
    return;
  }
  autograd::read_contexts_with(read);
}

}  // namespace memtrace::agent
