// SPDX-License-Identifier: Apache-2.0
//
// Reads a pickle as PyTorch's memory_viz does, which knows these opcodes and no others, into JSON.
// Anything else is an error in words. What was made in two places is copied.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::test {

class unpickler {
 public:
  explicit unpickler(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] nlohmann::json read() {
    while (true) {
      const auto opcode = take(1);
      if (opcode == '.') break;
      step(opcode);
    }
    if (at_ != bytes_.size() || values_.size() != 1) throw std::runtime_error("not one value");
    return *values_.back();
  }

 private:
  using value =
      std::shared_ptr<nlohmann::json>;  // lists and dicts go on growing after they are stored

  [[nodiscard]] std::uint64_t take(unsigned count) {
    std::uint64_t found = 0;
    for (unsigned i = 0; i < count; ++i) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      if (i < 8) found |= std::uint64_t{byte} << (8 * i);
    }
    return found;
  }
  void push(nlohmann::json made) {
    values_.push_back(std::make_shared<nlohmann::json>(std::move(made)));
  }
  [[nodiscard]] value pop() {
    auto last = values_.at(values_.size() - 1);
    values_.pop_back();
    return last;
  }
  [[nodiscard]] std::string text(std::uint64_t size) {
    const std::string found(bytes_.substr(at_, size));
    if (found.size() != size) throw std::runtime_error("a text is cut off");
    at_ += size;
    return found;
  }
  [[nodiscard]] std::vector<value> since_mark() {
    const auto from = static_cast<std::ptrdiff_t>(marks_.at(marks_.size() - 1));
    marks_.pop_back();
    std::vector<value> found(values_.begin() + from, values_.end());
    values_.resize(static_cast<std::size_t>(from));
    return found;
  }
  void set(const value& key, const value& what) {
    (*values_.at(values_.size() - 1))[key->get<std::string>()] = *what;
  }
  void step(std::uint64_t opcode) {
    switch (opcode) {
      case 0x80: {
        const auto version = take(1);
        if (version < 2 || version > 4) throw std::runtime_error("another protocol");
        return;
      }
      case '}':
        return push(nlohmann::json::object());
      case ']':
        return push(nlohmann::json::array());
      case '(':
        return marks_.push_back(values_.size());
      case 's': {
        const auto what = pop();
        const auto key = pop();
        return set(key, what);
      }
      case 'u': {
        const auto found = since_mark();
        for (std::size_t i = 0; i < found.size(); i += 2) set(found[i], found.at(i + 1));
        return;
      }
      case 'a': {
        const auto what = pop();
        return values_.at(values_.size() - 1)->push_back(*what);
      }
      case 'e': {
        const auto found = since_mark();
        if (found.size() > 1000) throw std::runtime_error("more than 1,000 at once");
        for (const auto& one : found) values_.at(values_.size() - 1)->push_back(*one);
        return;
      }
      case 0x86: {
        const auto second = pop();
        const auto first = pop();
        return push(nlohmann::json::array({*first, *second}));
      }
      case 'N':
        return push(nullptr);
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 'K':
        return push(take(1));
      case 'M':
        return push(take(2));
      case 'J':
        return push(static_cast<std::int32_t>(take(4)));
      case 0x8a: {
        const auto size = take(1);
        if (size > 9 || (size == 9 && bytes_.at(at_ + 8) != 0))
          throw std::runtime_error("too large");
        const bool negative =
            size != 0 && (static_cast<unsigned char>(bytes_.at(at_ + size - 1)) & 0x80) != 0;
        if (negative) throw std::runtime_error("negative");
        return push(take(static_cast<unsigned>(size)));
      }
      case 'G': {
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8 | take(1);
        return push(std::bit_cast<double>(bits));
      }
      case 0x8c:
        return push(text(take(1)));
      case 'X':
        return push(text(take(4)));
      case 'q':
        memo_[take(1)] = values_.at(values_.size() - 1);
        return;
      case 'r':
        memo_[take(4)] = values_.at(values_.size() - 1);
        return;
      case 'h':
        return values_.push_back(memo_.at(take(1)));
      case 'j':
        return values_.push_back(memo_.at(take(4)));
      default:
        throw std::runtime_error("an opcode that the viewer does not know: " +
                                 std::to_string(opcode));
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<value> values_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, value> memo_;
};

[[nodiscard]] inline nlohmann::json unpickled(std::string_view bytes) {
  return unpickler(bytes).read();
}

}  // namespace memtrace::test
