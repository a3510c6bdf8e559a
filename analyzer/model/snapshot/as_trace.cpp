// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/as_trace.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "analyzer/model/snapshot/json_input.h"
#include "analyzer/model/snapshot/pickle_reader.h"
#include "analyzer/model/snapshot/profiler_contents.h"
#include "analyzer/model/snapshot/profiler_maker.h"
#include "analyzer/model/snapshot/trace_maker.h"

namespace memtrace::snapshot {

namespace {

constexpr unsigned char proto = 0x80;
constexpr unsigned char newest_protocol = 5;

using head_t = std::array<unsigned char, 16>;

[[nodiscard]] head_t head_of(trace::byte_source& source) {
  head_t head{};
  (void)source.read(0, std::as_writable_bytes(std::span(head)));
  return head;
}

[[nodiscard]] bool starts_with(const head_t& head, std::string_view bytes) {
  return std::memcmp(head.data(), bytes.data(), bytes.size()) == 0;
}

constexpr std::string_view zip = "PK\x03\x04";
constexpr std::string_view gzip = "\x1f\x8b";
// torch.save before 1.6: a number that no other pickle begins with.
constexpr std::string_view legacy_checkpoint = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19";

[[nodiscard]] bool is_pickle(const head_t& head) {
  return head[0] == proto && head[1] >= 2 && head[1] <= newest_protocol;
}

// The kind of the file, where that is not a pickle.
[[nodiscard]] trace::status foreign(const head_t& head) {
  const auto error = [](std::string sentence) {
    return trace::error{trace::error_code::not_a_snapshot, 0, std::move(sentence)};
  };
  if (starts_with(head, zip) || starts_with(head, legacy_checkpoint)) {
    return error(fmt::format("is a model's checkpoint (torch.save), not a memory snapshot; {}",
                             how_to_make_one));
  }
  if (starts_with(head, gzip)) {
    return error("is packed with gzip; unpack it first (gunzip), then name the file inside");
  }
  return std::nullopt;
}

template <class Maker, class Contents>
[[nodiscard]] trace::result<std::unique_ptr<spill_file>> written(Contents& found) {
  auto made = std::make_unique<spill_file>();
  if (!Maker(found, *made).make()) {
    return trace::error{
        trace::error_code::io_error, 0,
        fmt::format("needs room to be read, and TMPDIR has none: {}", std::strerror(errno))};
  }
  return made;
}

}  // namespace

bool is_one(trace::byte_source& source) {
  const auto head = head_of(source);
  return is_pickle(head) || foreign(head).has_value() || json_input::first_of(source) != 0;
}

trace::result<std::unique_ptr<spill_file>> as_trace(
    trace::byte_source& source,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  if (json_input::first_of(source) != 0) {
    profiler_contents found;
    if (auto failed = read_profiler_trace(source, found, on_progress)) return std::move(*failed);
    return written<profiler_maker>(found);
  }
  if (auto other = foreign(head_of(source))) return std::move(*other);
  contents found;
  if (auto failed = pickle_reader(source, found).read(on_progress)) return std::move(*failed);
  return written<trace_maker>(found);
}

}  // namespace memtrace::snapshot
