// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/json_input.h"

#include <array>
#include <string_view>

namespace memtrace::snapshot {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
constexpr int gzip_window = 15 + 16;

[[nodiscard]] bool is_gzip(trace::byte_source& source) {
  std::array<unsigned char, 2> head{};
  return source.read(0, std::as_writable_bytes(std::span(head))) == head.size() &&
         head[0] == 0x1f && head[1] == 0x8b;
}

}  // namespace

json_input::json_input(trace::byte_source& source) : source_(source), buffer_(buffer_bytes) {
  if (!is_gzip(source)) return;
  packed_.resize(buffer_bytes);
  damaged_ = inflateInit2(&stream_, gzip_window) != Z_OK;
}

json_input::~json_input() {
  if (!packed_.empty()) inflateEnd(&stream_);
}

char json_input::first_of(trace::byte_source& source) {
  constexpr int most_spaces = 4096;
  json_input input(source);
  for (int i = 0; i < most_spaces; ++i) {
    const auto one = input.sbumpc();
    if (one == traits_type::eof()) return 0;
    const auto read = traits_type::to_char_type(one);
    if (std::string_view(" \t\r\n").find(read) != std::string_view::npos) continue;
    return read == '{' || read == '[' ? read : '\0';
  }
  return 0;
}

json_input::int_type json_input::underflow() {
  if (gptr() != egptr()) return traits_type::to_int_type(*gptr());
  before_ = position();
  setg(buffer_.data(), buffer_.data(), buffer_.data());
  if (before_ - kept_from_ > longest_token) {
    too_long_ = true;
    return traits_type::eof();
  }
  const auto filled = packed_.empty() ? fill() : unpack();
  if (filled == 0) {
    ended_ = true;
    return traits_type::eof();
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + filled);
  return traits_type::to_int_type(*gptr());
}

std::size_t json_input::fill() {
  const auto got = source_.read(read_, std::as_writable_bytes(std::span(buffer_)));
  read_ += got;
  return got;
}

std::size_t json_input::unpack() {
  stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_out = static_cast<uInt>(buffer_.size());
  while (stream_.avail_out == buffer_.size() && !damaged_) {
    if (stream_.avail_in == 0) {
      const auto got = source_.read(read_, std::as_writable_bytes(std::span(packed_)));
      if (got == 0) break;
      read_ += got;
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_in = static_cast<uInt>(got);
    }
    const int said = inflate(&stream_, Z_NO_FLUSH);
    if (said == Z_STREAM_END) {  // another may follow, as in files that were joined
      damaged_ = inflateReset(&stream_) != Z_OK;
    } else if (said != Z_OK && said != Z_BUF_ERROR) {
      damaged_ = true;
    }
  }
  return buffer_.size() - stream_.avail_out;
}

}  // namespace memtrace::snapshot
