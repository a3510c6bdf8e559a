// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/dict_version.h"

#include <iterator>

#include "interpose/sight/python/interpreter.h"

namespace memtrace::agent {
namespace {

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

}  // namespace

std::uint64_t version_of(py dictionary) {
  if (found == finding::unknown) {
    found = has_versions() ? finding::there : finding::none;
    python_functions().clear_error();
  }
  return found == finding::there ? read(dictionary) : 0;
}

}  // namespace memtrace::agent
