// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/slot_offset.h"

#include "interpose/sight/python/interpreter.h"

namespace memtrace::agent {
namespace {

constexpr std::size_t descriptor_member = 40;  // PyMemberDescrObject: header, type, two names
constexpr std::size_t member_offset = 16;      // PyMemberDef: name, kind, offset
constexpr std::size_t object_header = 16;
constexpr std::ptrdiff_t furthest = 1 << 12;

}  // namespace

std::ptrdiff_t slot_offset(py object, py name, py value) {
  using python_stack::load;
  const python_api& api = python_functions();
  const auto slot_type = static_cast<py>(python_stack::find_symbol("PyMemberDescr_Type"));
  const py type = autograd::type_of(object);
  const reference descriptor(api, api.get_attribute(reinterpret_cast<py>(type), name));
  if (!descriptor) api.clear_error();
  if (!descriptor || slot_type == nullptr) return 0;
  if (autograd::type_of(descriptor.get()) != slot_type) return 0;
  const auto member = load<std::uintptr_t>(address_of(descriptor.get()), descriptor_member);
  const auto offset = load<std::ptrdiff_t>(member, member_offset);
  if (offset < static_cast<std::ptrdiff_t>(object_header) || offset > furthest) return 0;
  if (offset % static_cast<std::ptrdiff_t>(sizeof(py)) != 0) return 0;
  const py there = load<py>(address_of(object), static_cast<std::size_t>(offset));
  return there == value ? offset : 0;
}

}  // namespace memtrace::agent
