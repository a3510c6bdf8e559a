// SPDX-License-Identifier: Apache-2.0
//
// Descriptors whose attributes are set and read back: cuDNN's backend descriptors and those of
// cuBLASLt know nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace memtrace::simulator {

struct attribute_value {
  int type = 0;            // as the library numbers its types
  std::int64_t count = 0;  // elements
  std::vector<std::byte> bytes;
};

class attribute_store {
 public:
  void set(int name, int type, std::int64_t count, const void* from, std::size_t bytes) {
    attribute_value& value = values_[name];
    value.type = type;
    value.count = count;
    const auto* first = static_cast<const std::byte*>(from);
    value.bytes.assign(first, first + bytes);
  }

  template <typename Value>
  void set_scalar(int name, Value value) {
    set(name, 0, 1, &value, sizeof value);
  }

  // Null if it was never set.
  [[nodiscard]] const attribute_value* get(int name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

  // The first element of an attribute, or `otherwise` if it is not set or of another size.
  template <typename Value>
  [[nodiscard]] Value scalar(int name, Value otherwise) const {
    const attribute_value* value = get(name);
    if (value == nullptr || value->bytes.size() < sizeof(Value)) return otherwise;
    Value result;
    std::memcpy(&result, value->bytes.data(), sizeof result);
    return result;
  }

 private:
  std::map<int, attribute_value> values_;
};

}  // namespace memtrace::simulator
