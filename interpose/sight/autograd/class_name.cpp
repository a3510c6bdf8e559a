// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/class_name.h"

namespace memtrace::autograd {
namespace {

bool is_digit(char character) noexcept {
  return character >= '0' && character <= '9';
}

}  // namespace

// Itanium C++ ABI: before the virtual functions stands the address of the type information, whose
// second word is the name.
std::string_view mangled_class(const void* functions) noexcept {
  const void* const information = static_cast<const void* const*>(functions)[-1];
  if (information == nullptr) return {};
  const char* const name = static_cast<const char* const*>(information)[1];
  return *name == '*' ? name + 1 : name;  // a class that only its own library knows
}

std::string_view last_part(std::string_view mangled) noexcept {
  std::string_view rest = mangled;
  std::string_view last = mangled;
  if (rest.empty() || rest.front() != 'N') return last;
  rest.remove_prefix(1);
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t length = 0;
    while (!rest.empty() && is_digit(rest.front())) {
      length = length * 10 + static_cast<std::size_t>(rest.front() - '0');
      rest.remove_prefix(1);
    }
    if (length > rest.size()) return mangled;
    last = rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return last;
}

}  // namespace memtrace::autograd
