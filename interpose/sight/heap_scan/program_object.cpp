// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/sight/autograd/tensor_storages.h"
#include "interpose/sight/heap_scan/name_object.h"
#include "interpose/sight/heap_scan/object_check.h"
#include "interpose/sight/python/interpreter.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::heap_scan {

namespace {

// Names lead to objects, whatever memory these have.
class tensor_types final : public storage_reader {
 public:
  [[nodiscard]] bool is_tensor(address object) const noexcept override {
    return autograd::is_tensor(reinterpret_cast<python_stack::py>(object));
  }
  [[nodiscard]] bool is_storage(address) const noexcept override { return false; }
  [[nodiscard]] bool has_graph(address) const noexcept override { return false; }
  [[nodiscard]] bool read_tensor(address, seen_storage&) const noexcept override { return false; }
  [[nodiscard]] bool read_gradient(address, seen_storage&) const noexcept override { return false; }
  [[nodiscard]] bool read_storage(address, seen_storage&) const noexcept override { return false; }
  void walk_graphs(search&) override {}
};

// Once the answer is known it stays. With the GIL.
enum class known : std::uint8_t { not_yet, readable, unreadable };
constinit known answer = known::not_yet;

known look_at_objects(const python_objects& python) {
  if (!python_stack::find_python_functions()) return known::unreadable;
  const auto& api = python_stack::python_functions();
  // Its code is seen by nobody that would have to be told to leave it alone.
  const python_stack::py anything = api.get_item(api.builtins(), "id");
  if (anything == nullptr) return known::unreadable;
  switch (check_objects(python, anything)) {
    case object_verdict::agrees:
      return known::readable;
    case object_verdict::raised:
      return known::not_yet;
    case object_verdict::differs:
      break;
  }
  return known::unreadable;
}

known look_at_stack() {
  switch (python_stack::state()) {
    case python_stack::stacks::on:
      return known::readable;
    case python_stack::stacks::off:
      return known::unreadable;
    case python_stack::stacks::unknown:
      break;
  }
  const auto& python = python_stack::this_interpreter();
  switch (python_stack::check_against_interpreter(python)) {
    case python_stack::verdict::agrees:
      return known::readable;
    case python_stack::verdict::differs:
      return known::unreadable;
    default:
      return known::not_yet;
  }
}

bool may_be_read(const python_objects& python) {
  if (answer == known::not_yet) {
    const known stack = look_at_stack();
    answer = stack == known::readable ? look_at_objects(python) : stack;
  }
  return answer == known::readable;
}

}  // namespace

std::optional<object_name> name_of_programs_object(address object) {
  if (!refusals::is_allowed(capability::census) || !settings::is_on(capability::agent)) {
    return std::nullopt;
  }
  const auto& interpreter = python_stack::this_interpreter();
  if (!interpreter.this_thread_has_gil() || !interpreter.is_in_main()) return std::nullopt;
  const python_objects* const python = find_python_objects();
  if (python == nullptr || !has_stack_left() || !may_be_read(*python)) {
    return std::nullopt;
  }
  return name_object(object, tensor_types(), {});
}

}  // namespace memtrace::heap_scan
