// SPDX-License-Identifier: Apache-2.0
#include "interpose/agent/tensor_storages.h"

#include <iterator>

#include "interpose/python/layout.h"

namespace memtrace::agent {

namespace {

// Any tensor is one of the first; nearly all are one of the other two.
py base_type = nullptr;
py tensor_type = nullptr;
py parameter_type = nullptr;

struct scalar_facts {
  const char* name;
  std::uint8_t bytes;
};

// c10/core/ScalarType.h, in its order.
constexpr scalar_facts scalars[] = {
    {"uint8", 1},           {"int8", 1},
    {"int16", 2},           {"int32", 4},
    {"int64", 8},           {"float16", 2},
    {"float32", 4},         {"float64", 8},
    {"complex32", 4},       {"complex64", 8},
    {"complex128", 16},     {"bool", 1},
    {"qint8", 1},           {"quint8", 1},
    {"qint32", 4},          {"bfloat16", 2},
    {"quint4x2", 1},        {"quint2x4", 1},
    {"bits1x8", 1},         {"bits2x4", 1},
    {"bits4x2", 1},         {"bits8", 1},
    {"bits16", 2},          {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},   {"float8_e5m2fnuz", 1},
    {"float8_e4m3fnuz", 1}, {"uint16", 2},
    {"uint32", 4},          {"uint64", 8},
};

py type_of(py object) noexcept {
  namespace offset = python_stack::object;
  return python_stack::load<py>(address_of(object), offset::type);
}

py attribute_of(py object, py name) {
  const python_api& api = python_functions();
  const py value = name == nullptr ? nullptr : api.get_attribute(object, name);
  if (value == nullptr) api.clear_error();
  return value;
}

// As the protocol of wrapping subclasses has it: ([names of attributes], anything).
py flattened(py tensor) {
  static const py flatten = interned("__tensor_flatten__");
  const python_api& api = python_functions();
  const reference method(api, attribute_of(tensor, flatten));
  if (!method) return nullptr;
  const reference answer(api, api.call(method.get(), nullptr));
  if (!answer) api.clear_error();
  if (!answer || !is_tuple(answer.get()) || api.tuple_size(answer.get()) < 1) return nullptr;
  const py parts = api.new_list(0);
  if (parts == nullptr) api.clear_error();
  if (parts == nullptr) return nullptr;
  for_each_item(api.tuple_item(answer.get(), 0), [&](py name) {
    const reference part(api, is_text(name) ? attribute_of(tensor, name) : nullptr);
    if (part && api.list_append(parts, part.get()) != 0) api.clear_error();
  });
  return parts;
}

}  // namespace

void know_tensor_types(py base, py tensor, py parameter) {
  for (const py type : {base, tensor, parameter}) python_functions().inc_ref(type);
  base_type = base;
  tensor_type = tensor;
  parameter_type = parameter;
}

bool is_tensor(py object) noexcept {
  if (base_type == nullptr || object == nullptr) return false;
  const py type = type_of(object);
  return type == parameter_type || type == tensor_type ||
         python_functions().is_subtype(type, base_type) != 0;
}

py detail::parts_of_wrapper(py tensor) {
  const python_api& api = python_functions();
  static const py local_name = interned("_local_tensor");
  const py local = attribute_of(tensor, local_name);
  if (local == nullptr) return flattened(tensor);
  const reference owned(api, local);
  const py parts = api.new_list(0);
  if (parts == nullptr || api.list_append(parts, local) != 0) api.clear_error();
  return parts;
}

std::uint64_t tensor_bytes(const void* impl) noexcept {
  const std::uint32_t type = autograd::scalar_type(impl);
  if (type >= std::size(scalars)) return 0;
  std::uint64_t bytes = scalars[type].bytes;
  const std::uint32_t dimensions = autograd::dimensions(impl);
  for (std::uint32_t i = 0; i < dimensions; ++i) bytes *= autograd::size(impl, i);
  return bytes;
}

const char* type_name(const void* impl) noexcept {
  const std::uint32_t type = autograd::scalar_type(impl);
  return type < std::size(scalars) ? scalars[type].name : "";
}

}  // namespace memtrace::agent
