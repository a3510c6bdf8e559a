// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/nvtx_text.h"

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace memtrace::nvtx {
namespace {

// A handle is a name's address; the lowest bit marks a library's domain.
constexpr std::uintptr_t library_bit = 1;
static_assert(alignof(names::name) > library_bit);

// As their domains are called, whatever the case.
constexpr const char* libraries[] = {"CCCL",     "NCCL",     "cuBLAS", "cuBLASLt", "cuDNN",
                                     "cuSPARSE", "cuSOLVER", "cuFFT",  "cuTENSOR", "NVSHMEM"};

const names::name* name_of_handle(const handle* which) noexcept {
  return reinterpret_cast<const names::name*>(reinterpret_cast<std::uintptr_t>(which) &
                                              ~library_bit);
}

// Text of limited length, put together without allocating.
class joined_text {
 public:
  void add(std::string_view more) noexcept {
    const std::size_t fits = std::min(more.size(), sizeof characters_ - used_);
    std::memcpy(characters_ + used_, more.data(), fits);
    used_ += fits;
  }
  // As UTF-8; what is no character becomes U+FFFD.
  void add(char32_t c) noexcept {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    char bytes[4];
    std::size_t count = 0;
    const auto tail = [&](unsigned shift) {
      bytes[count++] = static_cast<char>(0x80 | ((c >> shift) & 0x3f));
    };
    if (c < 0x80) {
      bytes[count++] = static_cast<char>(c);
    } else if (c < 0x800) {
      bytes[count++] = static_cast<char>(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      bytes[count++] = static_cast<char>(0xe0 | c >> 12);
      tail(6);
    } else {
      bytes[count++] = static_cast<char>(0xf0 | c >> 18);
      tail(12);
      tail(6);
    }
    if (c >= 0x80) tail(0);
    if (sizeof characters_ - used_ >= count) add({bytes, count});
  }
  [[nodiscard]] const names::name* name() const noexcept {
    return used_ == 0 ? nullptr : names::intern({characters_, used_});
  }

 private:
  char characters_[names::max_bytes];
  std::size_t used_ = 0;
};

void add_message(joined_text& to, const event_attributes& attributes) noexcept {
  if (attributes.size < sizeof attributes || attributes.text.bytes == nullptr) return;
  switch (attributes.message) {
    case message_kind::bytes:
      return to.add({attributes.text.bytes, strnlen(attributes.text.bytes, names::max_bytes)});
    case message_kind::wide:
      for (const wchar_t* at = attributes.text.wide; *at != 0; ++at) {
        to.add(static_cast<char32_t>(*at));
      }
      return;
    case message_kind::registered:
      return to.add(name_of_handle(attributes.text.registered)->text);
    case message_kind::none:
      return;
  }
}

}  // namespace

const names::name* name_of(const char* text) noexcept {
  return text == nullptr || *text == '\0' ? nullptr
                                          : names::intern({text, strnlen(text, names::max_bytes)});
}

const names::name* name_of(const wchar_t* text) noexcept {
  joined_text characters;
  for (; text != nullptr && *text != 0; ++text) characters.add(static_cast<char32_t>(*text));
  return characters.name();
}

const names::name* name_of(const handle* domain, const event_attributes* attributes) noexcept {
  joined_text text;
  if (const names::name* const owner = name_of_handle(domain); owner != nullptr) {
    text.add(owner->text);
    text.add(": ");
  }
  if (attributes != nullptr) add_message(text, *attributes);
  return text.name();
}

const handle* handle_of(const names::name* text) noexcept {
  return reinterpret_cast<const handle*>(text);
}

const handle* handle_of_domain(const names::name* text) noexcept {
  if (text == nullptr) return nullptr;
  const bool is_library = std::any_of(std::begin(libraries), std::end(libraries), [&](auto* name) {
    return text->text.size() == std::strlen(name) &&
           strncasecmp(text->text.data(), name, text->text.size()) == 0;
  });
  return reinterpret_cast<const handle*>(reinterpret_cast<std::uintptr_t>(text) |
                                         (is_library ? library_bit : 0));
}

bool is_library(const handle* domain) noexcept {
  return (reinterpret_cast<std::uintptr_t>(domain) & library_bit) != 0;
}

}  // namespace memtrace::nvtx
