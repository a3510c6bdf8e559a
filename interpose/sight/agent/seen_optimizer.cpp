// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/seen_optimizer.h"

#include <iterator>

#include "interpose/sight/agent/optimizer_values.h"
#include "interpose/sight/agent/short_names.h"
#include "interpose/sight/python/interpreter.h"

namespace memtrace::agent {

namespace {

// A number that CPython 3.9 to 3.12 gives to a dictionary anew whenever it changes, no number
// twice: what a dictionary holds is the same as long as it has the same one. Later versions have
// none. Needs the GIL.

constexpr std::size_t version_offset = 24;  // PyDictObject: reference count, type, size, version
constexpr unsigned last_with_versions = 12;

enum class finding : std::uint8_t { unknown, none, there };
constinit finding found = finding::unknown;

std::uint64_t read(py dictionary) noexcept {
  return python_stack::load<std::uint64_t>(address_of(dictionary), version_offset);
}

// Another number after each change, the same one after a look.
bool has_versions() {
  const python_api& api = python_functions();
  const auto* const offsets = python_stack::this_interpreter().offsets;
  if (offsets == nullptr || offsets->minor > last_with_versions) return false;
  const reference tried(api, api.new_dict());
  const reference value(api, api.new_word(1u << 20));
  if (!tried || !value) return false;
  std::uint64_t seen[] = {read(tried.get()), 0, 0, 0};
  (void)api.set_item(tried.get(), "a", api.none);
  seen[1] = read(tried.get());
  (void)api.set_item(tried.get(), "b", api.none);
  seen[2] = read(tried.get());
  (void)api.set_item(tried.get(), "a", value.get());
  seen[3] = read(tried.get());
  (void)api.get_item(tried.get(), "a");
  if (read(tried.get()) != seen[3]) return false;
  for (std::size_t i = 0; i < std::size(seen); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (seen[i] == 0 || seen[i] == seen[j]) return false;
    }
  }
  return true;
}

// 0 where there are none, or where a dictionary of our own does not get new ones as it should.
std::uint64_t version_of(py dictionary) {
  if (found == finding::unknown) {
    found = has_versions() ? finding::there : finding::none;
    python_functions().clear_error();
  }
  return found == finding::there ? read(dictionary) : 0;
}

using detail::deepest_state;
using python_stack::each_item_of;

constinit py params_name = nullptr;  // looked up once, with the GIL

py params_of(py group) {
  if (params_name == nullptr) params_name = interned("params");
  if (params_name == nullptr || !is_dict(group)) return nullptr;
  return python_functions().dict_item(group, params_name);
}

// Until each(key, value), which runs nothing of Python's, returns false; false then.
template <typename Function>
bool each_pair_of(py dictionary, Function each) {
  const python_api& api = python_functions();
  std::ptrdiff_t place = 0;
  py key = nullptr, value = nullptr;
  while (api.dict_next(dictionary, &place, &key, &value) != 0) {
    if (!each(key, value)) return false;
  }
  return true;
}

// Their objects are scattered over the heap.
void fetch_ahead(const std::vector<seen_tensor>& tensors, std::size_t at) noexcept {
  constexpr std::size_t distance = 8;
  if (at + distance < tensors.size()) __builtin_prefetch(tensors[at + distance].object());
}

bool is_container(py value) noexcept {
  return is_dict(value) || is_list(value) || is_tuple(value);
}

// A dictionary's version tells of its values, but not of what containers among them hold. In those
// of a group are no tensors but the parameters.
std::uint64_t version_for_tensors(py key, py value) {
  if (!is_dict(value) || version_of(value) == 0) return 0;
  if (key == nullptr) return version_of(value);
  const bool is_flat = each_pair_of(value, [](py, py inner) { return !is_container(inner); });
  return is_flat ? version_of(value) : 0;
}

}  // namespace

bool seen_parameters::are_in(py groups) const {
  std::size_t next = 0;
  const bool same = each_item_of(groups, [&](py group) {
    const py parameters = params_of(group);
    return parameters == nullptr || each_item_of(parameters, [&](py parameter) {
             fetch_ahead(tensors_, next);
             if (next < tensors_.size() && tensors_[next].is(parameter)) {
               ++next;
               return true;
             }
             return !is_tensor(parameter);
           });
  });
  return same && next == tensors_.size();
}

void seen_parameters::keep(py groups) {
  tensors_.clear();
  addresses_.clear();
  for_each_parameter(groups, [&](py parameter, const parameter_place&) {
    tensors_.emplace_back(parameter);
    tensors_.back().add_addresses(addresses_);
  });
}

bool seen_states::holds(py value, std::size_t& next, std::size_t end, int depth) const {
  if (next < end && tensors_[next].is(value)) {
    ++next;
    return true;
  }
  if (is_tensor(value)) return false;
  if (depth == 0) return true;
  const auto is_held = [&](py inner) { return holds(inner, next, end, depth - 1); };
  if (is_dict(value)) return each_pair_of(value, [&](py, py inner) { return is_held(inner); });
  return each_item_of(value, is_held);
}

bool seen_states::is_same(part& known, py key, py value) {
  if (known.key != key || known.value != value) return false;
  if (known.version != 0 && version_of(value) == known.version) {
    for (std::size_t i = known.first; i < known.end; ++i) {
      fetch_ahead(tensors_, i);
      if (!tensors_[i].is(tensors_[i].object())) return false;
    }
    return true;
  }
  std::size_t next = known.first;
  const int depth = key == nullptr ? 1 : deepest_state;  // of a group only its own values
  if (!holds(value, next, known.end, depth) || next != known.end) return false;
  known.version = version_for_tensors(key, value);
  return true;
}

bool seen_states::are_in(py groups, py state) {
  std::size_t next = 0;
  const bool same_groups = each_item_of(
      groups, [&](py group) { return next < groups_ && is_same(parts_[next++], nullptr, group); });
  if (!same_groups || next != groups_ || state != state_) return false;
  if (!is_dict(state)) return true;
  const std::uint64_t version = version_of(state);
  if (version != 0 && version == state_version_) {
    for (; next < parts_.size(); ++next) {
      if (!is_same(parts_[next], parts_[next].key, parts_[next].value)) return false;
    }
    return true;
  }
  const bool same = each_pair_of(state, [&](py key, py value) {
    return next < parts_.size() && is_same(parts_[next++], key, value);
  });
  if (same && next == parts_.size()) state_version_ = version;
  return same && next == parts_.size();
}

void seen_states::add_tensors(py value, int depth) {
  if (is_tensor(value)) {
    tensors_.emplace_back(value);
    tensors_.back().add_addresses(addresses_);
  } else if (depth > 0 && is_dict(value)) {
    detail::for_each_pair(value, [&](py, py inner) { add_tensors(inner, depth - 1); });
  } else if (depth > 0) {
    for_each_item(value, [&](py inner) { add_tensors(inner, depth - 1); });
  }
}

void seen_states::add(py key, py value) {
  const std::size_t first = tensors_.size();
  add_tensors(value, key == nullptr ? 1 : deepest_state);
  parts_.push_back({key, value, version_for_tensors(key, value), first, tensors_.size()});
}

void seen_states::keep(py groups, py state) {
  parts_.clear();
  tensors_.clear();
  addresses_.clear();
  for_each_item(groups, [&](py group) { add(nullptr, group); });
  groups_ = parts_.size();
  state_ = state;
  state_version_ = is_dict(state) ? version_of(state) : 0;
  if (!is_dict(state)) return;
  detail::for_each_pair(state, [&](py key, py value) { add(key, value); });
}

}  // namespace memtrace::agent
