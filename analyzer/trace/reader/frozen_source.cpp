// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/frozen_source.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "analyzer/trace/reader/header.h"

namespace memtrace::trace {

namespace {

using sequences = std::array<std::uint64_t, format::slot_count>;

[[nodiscard]] sequences sequences_in(byte_source& source, const format::file_header& header) {
  sequences found{};
  for (std::uint32_t i = 0; i < format::slot_count; ++i) {
    (void)source.read(slot_offset(header, i), std::as_writable_bytes(std::span(&found[i], 1)));
  }
  return found;
}

}  // namespace

result<std::unique_ptr<frozen_source>> frozen_source::take(const std::string& path) {
  auto file = followed_file::open(path);
  if (!file) return file.failure();
  auto header = read_header(**file);
  if (!header) return header.failure();
  std::unique_ptr<frozen_source> made(new frozen_source(std::move(*file)));
  auto& source = *made->file_;
  made->head_.resize(static_cast<std::size_t>(first_block_offset(*header)));
  // A slot's first bytes say how many of the others count, and are copied first. One that was
  // begun anew meanwhile is copied again.
  constexpr int attempts = 5;
  for (int i = 0; i < attempts; ++i) {
    const auto before = sequences_in(source, *header);
    made->head_.resize(source.read(0, made->head_));
    if (sequences_in(source, *header) == before) break;
  }
  // Only now: what is in no slot any more is in the file.
  made->size_ = std::max<std::uint64_t>(source.size(), made->head_.size());
  return made;
}

std::size_t frozen_source::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset >= size_) return 0;
  out = out.first(std::min<std::uint64_t>(out.size(), size_ - offset));
  std::size_t done = 0;
  if (offset < head_.size()) {
    done = std::min<std::size_t>(out.size(), head_.size() - static_cast<std::size_t>(offset));
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(offset), done, out.begin());
  }
  return done == out.size() ? done : done + file_->read(offset + done, out.subspan(done));
}

}  // namespace memtrace::trace
