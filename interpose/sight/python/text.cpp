// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/text.h"

namespace memtrace::python_stack {

namespace {

// The bit-field after the hash: 2 bits interned, 3 bits bytes a character, compact, ASCII.
struct text_state {
  unsigned kind;
  bool compact;
  bool ascii;
};

text_state state_of(address text) noexcept {
  const auto bits = load<std::uint32_t>(text, object::text_state);
  return {(bits >> 2) & 7u, ((bits >> 5) & 1u) != 0, ((bits >> 6) & 1u) != 0};
}

address characters_of(const layout& offsets, address text, text_state state) noexcept {
  if (!state.compact) return load<address>(text, offsets.text_compact);
  return text + (state.ascii ? offsets.text_ascii : offsets.text_compact);
}

std::uint32_t character(address characters, unsigned kind, std::size_t index) noexcept {
  if (kind == 1) return load<std::uint8_t>(characters, index);
  if (kind == 2) return load<std::uint16_t>(characters, index * 2);
  return load<std::uint32_t>(characters, index * 4);
}

bool put_utf8(text_arena& arena, std::uint32_t code) noexcept {
  const auto put = [&](std::uint32_t byte) { return arena.put(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { return put(0x80 | ((code >> shift) & 63)); };
  if (code < 0x80) return put(code);
  if (code >= 0xdc80 && code <= 0xdcff) return put(code - 0xdc00);  // PEP 383: a lone byte
  if (code < 0x800) return put(0xc0 | (code >> 6)) && tail(0);
  if (code < 0x10000) return put(0xe0 | (code >> 12)) && tail(6) && tail(0);
  return put(0xf0 | (code >> 18)) && tail(12) && tail(6) && tail(0);
}

}  // namespace

bool is_text(const interpreter& python, address object) noexcept {
  if (object == 0) return false;
  const auto type = load<address>(object, object::type);
  if (type == python.text_type) return true;
  return type != 0 && (load<unsigned long>(type, object::type_flags) & object::text_subclass) != 0;
}

std::string_view read_text(const layout& offsets, address text, text_arena& arena) noexcept {
  const text_state state = state_of(text);
  const address characters = characters_of(offsets, text, state);
  const auto length = load<std::int64_t>(text, object::text_length);
  if (characters == 0 || length <= 0) return {};
  if (state.ascii) {
    return {reinterpret_cast<const char*>(characters), static_cast<std::size_t>(length)};
  }
  const std::size_t start = arena.used();
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
    if (!put_utf8(arena, character(characters, state.kind, i))) break;
  }
  return arena.since(start);
}

}  // namespace memtrace::python_stack
