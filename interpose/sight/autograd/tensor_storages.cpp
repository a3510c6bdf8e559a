// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/tensor_storages.h"

#include <iterator>

#include "interpose/sight/autograd/scalar_types.h"

namespace memtrace::autograd {

using python_stack::py;
using python_stack::python_api;
using python_stack::reference;

namespace {

// Any tensor is one of the first; nearly all are one of the other two.
py base_type = nullptr;
py tensor_type = nullptr;
py parameter_type = nullptr;

// Looked up once, with the GIL, and kept.
constinit py local_tensor = nullptr;
constinit py flatten = nullptr;

py kept(py& name, const char* text) {
  if (name == nullptr) name = python_stack::interned(text);
  return name;
}

}  // namespace

void know_tensor_types(py base, py tensor, py parameter) {
  for (const py type : {base, tensor, parameter}) python_stack::python_functions().inc_ref(type);
  base_type = base;
  tensor_type = tensor;
  parameter_type = parameter;
}

bool is_tensor(py object) noexcept {
  if (base_type == nullptr || object == nullptr) return false;
  const py type = type_of(object);
  return type == parameter_type || type == tensor_type ||
         python_stack::python_functions().is_subtype(type, base_type) != 0;
}

py detail::attribute_of(py object, py name) {
  const python_api& api = python_stack::python_functions();
  const py value = name == nullptr ? nullptr : api.get_attribute(object, name);
  if (value == nullptr) api.clear_error();
  return value;
}

py detail::local_tensor_name() {
  return kept(local_tensor, "_local_tensor");
}

// As the protocol of wrapping subclasses has it: ([names of attributes], anything).
py detail::names_of_parts(py tensor) {
  const python_api& api = python_stack::python_functions();
  const reference method(api, attribute_of(tensor, kept(flatten, "__tensor_flatten__")));
  if (!method) return nullptr;
  const reference answer(api, api.call(method.get(), nullptr));
  if (!answer) api.clear_error();
  if (!answer || !is_tuple(answer.get()) || api.tuple_size(answer.get()) < 1) return nullptr;
  const py names = api.tuple_item(answer.get(), 0);
  api.inc_ref(names);
  return names;
}

std::uint64_t tensor_bytes(const void* impl) noexcept {
  const std::uint32_t type = scalar_type(impl);
  if (type >= std::size(scalars)) return 0;
  std::uint64_t bytes = scalars[type].bytes;
  const std::uint32_t count = dimensions(impl);
  for (std::uint32_t i = 0; i < count; ++i) bytes *= size(impl, i);
  return bytes;
}

const char* type_name(const void* impl) noexcept {
  const std::uint32_t type = scalar_type(impl);
  return type < std::size(scalars) ? scalars[type].name : "";
}

}  // namespace memtrace::autograd
