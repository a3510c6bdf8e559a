// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/seen_tensor.h"

#include "interpose/sight/agent/short_names.h"
#include "interpose/sight/python/interpreter.h"

namespace memtrace::agent {

namespace {

constexpr std::size_t descriptor_member = 40;  // PyMemberDescrObject: header, type, two names
constexpr std::size_t member_offset = 16;      // PyMemberDef: name, kind, offset
constexpr std::size_t object_header = 16;
constexpr std::ptrdiff_t furthest = 1 << 12;

// Where objects of this one's class keep the attribute, of which `value` is the present one, if
// that is a slot (__slots__); else 0. Reading it there asks no code of Python's. Needs the GIL.
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

}  // namespace

struct seen_tensor::part {
  py name;              // for ever: there are few
  std::ptrdiff_t slot;  // 0: to be asked for
  seen_tensor tensor;
};

seen_tensor::seen_tensor(py tensor, int depth) : object_(tensor), type_(autograd::type_of(tensor)) {
  const void* const impl = autograd::impl_of(tensor);
  storage_ = autograd::storage_of(impl);
  address_ = storage_ == nullptr ? 0 : autograd::address_in(storage_);
  const bool is_cuda = autograd::is_cuda(impl);
  is_on_gpu_ = is_cuda && address_ != 0;
  if (!is_cuda || address_ != 0 || depth == 0) return;
  auto parts = std::make_shared<std::vector<part>>();
  autograd::for_each_part(tensor, [&](py name, py found) {
    if (!is_tensor(found)) return;
    const py kept = interned(std::string(text_of(name)).c_str());
    if (kept == nullptr) return;
    parts->push_back({kept, slot_offset(tensor, kept, found), seen_tensor(found, depth - 1)});
  });
  parts_ = std::move(parts);
}

bool seen_tensor::has_its_parts(py now) const {
  const python_api& api = python_functions();
  for (const part& each : *parts_) {
    if (each.slot != 0) {
      const py there = python_stack::load<py>(address_of(now), static_cast<std::size_t>(each.slot));
      if (there == nullptr || !each.tensor.is(there)) return false;
      continue;
    }
    const reference found(api, api.get_attribute(now, each.name));
    if (!found) api.clear_error();
    if (!found || !each.tensor.is(found.get())) return false;
  }
  return true;
}

void seen_tensor::add_addresses(std::vector<std::uint64_t>& to) const {
  if (is_on_gpu_) to.push_back(address_);
  if (parts_ == nullptr) return;
  for (const part& each : *parts_) each.tensor.add_addresses(to);
}

}  // namespace memtrace::agent
