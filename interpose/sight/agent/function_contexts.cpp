// SPDX-License-Identifier: Apache-2.0
//
// Tensors that custom Functions keep for backward as attributes of their context (ctx.x = x, also
// in a list, tuple or dict there), recorded as saved when the Function's backward is about to run:
//
//   LLM.int8 of bitsandbytes, fused kernels: ctx.tensors = (a, b)
//
// In a graph whose backward never runs they are not seen.
#include "interpose/sight/agent/bridge.h"
#include "interpose/sight/autograd/python_nodes.h"
#include "interpose/sight/autograd/tensor_records.h"
#include "interpose/sight/autograd/tensor_storages.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::agent {

namespace {

using heap_scan::address;
using heap_scan::python_objects;
using python_stack::py;

// So many values of a context are looked at: it is to hold tensors, and no data.
constexpr unsigned most_values = 1024;

class kept_tensors {
 public:
  kept_tensors(recorder& to, const python_objects& python) noexcept : to_(to), python_(python) {}

  void record_attributes(address context) noexcept {
    const auto each = [this](address, address value) {
      record(value);
      return left_ != 0;
    };
    heap_scan::for_each_pair(python_, heap_scan::instance_dict(python_, context), each);
    heap_scan::for_each_inline_value(python_, context, each);
  }

 private:
  bool record_tensor(address value) noexcept {
    if (left_ == 0) return false;
    --left_;
    const py object = heap_scan::object_at(value);
    if (!autograd::is_tensor(object)) return true;
    // Only the tensor itself: parts of a wrapper are asked for through Python.
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
    const py object = heap_scan::object_at(value);
    if (python_stack::is_dict(object)) {
      heap_scan::for_each_pair(python_, value,
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

// Not noexcept, and nothing to destroy: see interpreter::with_gil().
void read(recorder& to, std::uint64_t context) {
  const python_objects* const python = heap_scan::find_python_objects();
  if (python == nullptr) return;
  python->interpreter->with_gil([&] { kept_tensors(to, *python).record_attributes(context); });
}

}  // namespace

void watch_function_contexts() noexcept {
  autograd::read_contexts_with(read);
}

}  // namespace memtrace::agent
