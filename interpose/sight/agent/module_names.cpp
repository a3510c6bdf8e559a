// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/module_names.h"

#include <array>

#include "interpose/sight/agent/storage_batch.h"
#include "interpose/sight/agent/tensor_names.h"

namespace memtrace::agent {

namespace {

std::uint32_t number_of(py object) {
  const python_api& api = python_functions();
  const long value = api.as_long(object);
  if (value < 0) api.clear_error();
  return value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

// Calls row(items) for every `width` items of a flat list.
template <std::size_t width, typename Function>
void for_each_row(py list, Function row) {
  const python_api& api = python_functions();
  if (!is_list(list)) return;
  std::array<py, width> items;
  for (std::ptrdiff_t i = 0; i + static_cast<std::ptrdiff_t>(width) <= api.list_size(list);) {
    for (py& item : items) item = api.list_item(list, i++);
    row(items);
  }
}

std::uint32_t id_of_text(recorder& to, std::string_view text) {
  return text.empty() ? 0 : to.text_id(text);
}

}  // namespace

void record_root(recorder& to, py root, py modules, py tensors) {
  const std::uint32_t root_id = to.object_id(address_of(root));
  for_each_row<4>(modules, [&](const std::array<py, 4>& row) {
    to.module({.object = to.object_id(address_of(row[0])),
               .root = root_id,
               .path = id_of_text(to, text_of(row[1])),
               .type = id_of_text(to, text_of(row[2])),
               .flags = number_of(row[3])});
  });
  tensor_names& names = the_tensor_names();
  names.follow(to);
  names.begin_root(address_of(root));
  storage_batch batch;
  for_each_row<5>(tensors, [&](const std::array<py, 5>& row) {
    const auto [tensor, owner, role, name_object, detail] = row;
    const std::string_view name = text_of(name_object);
    const auto kind = static_cast<format::storage_role>(number_of(role));
    names.add(address_of(owner), id_of_text(to, name));
    const bool trains = kind == format::storage_role::parameter && is_tensor(owner) &&
                        autograd::requires_grad(autograd::impl_of(owner));
    const std::uint32_t flags = trains ? format::storage_trainable : 0;
    for_each_storage(tensor, [&, detail = detail](const gpu_storage& storage) {
      batch.add({kind, storage, name, text_of(detail), flags});
    });
  });
  batch.record(to, root_id);
}

}  // namespace memtrace::agent
