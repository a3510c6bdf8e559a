// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/pprof_profile.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace memtrace::exporting {

namespace {

// Numbers of fields, by message.
namespace profile {
constexpr unsigned sample_type = 1, sample = 2, location = 4, function = 5, string_table = 6,
                   time = 9, duration = 10, period_type = 11, period = 12;
}

// As gzip(1) would; empty where zlib has no memory.
[[nodiscard]] std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  constexpr int window = 15 + 16;  // with gzip's header
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string made;
  std::array<Bytef, 1u << 16> part;
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  int outcome = Z_OK;
  do {
    const auto taken = std::min(bytes.size(), most);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(taken);
    bytes.remove_prefix(taken);
    do {
      stream.next_out = part.data();
      stream.avail_out = static_cast<uInt>(part.size());
      outcome = ::deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      made.append(reinterpret_cast<const char*>(part.data()), part.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
  ::deflateEnd(&stream);
  return outcome == Z_STREAM_END ? made : std::string();
}

}  // namespace

std::uint64_t pprof_profile::number_of(std::string_view text) {
  const auto [place, is_new] = texts_.try_emplace(std::string(text), texts_.size());
  if (is_new) strings_.text(profile::string_table, text);
  return place->second;
}

void pprof_profile::add_type(std::string_view type, std::string_view unit) {
  body_.message(profile::sample_type,
                proto().number(1, number_of(type)).number(2, number_of(unit)));
}

std::uint64_t pprof_profile::location_of(const told_frame& frame) {
  const auto [place, is_new] = locations_.try_emplace(frame, locations_.size() + 1);
  if (!is_new) return place->second;
  const auto name = number_of(frame.function);
  const auto file = number_of(frame.file);
  const auto [function, is_new_one] = functions_.try_emplace({name, file}, functions_.size() + 1);
  if (is_new_one) {
    // Without a system's name: pprof takes one that is equal for C++ and cuts "<module>" out.
    body_.message(profile::function,
                  proto().number(1, function->second).number(2, name).number(4, file));
  }
  const auto line = proto().number(1, function->second).number(2, frame.line);
  body_.message(profile::location, proto().number(1, place->second).message(4, line));
  return place->second;
}

void pprof_profile::add_sample(const std::vector<told_frame>& outermost_first,
                               const std::vector<std::uint64_t>& values,
                               const std::vector<pprof_label>& labels) {
  proto places;
  for (auto frame = outermost_first.rbegin(); frame != outermost_first.rend(); ++frame) {
    places.packed(location_of(*frame));
  }
  proto numbers;
  for (const auto value : values) numbers.packed(value);
  proto sample;
  sample.message(1, places).message(2, numbers);
  for (const auto& label : labels) {
    proto made;
    made.number(1, number_of(label.key));
    if (label.text.empty()) {
      made.number(3, label.number);
    } else {
      made.number(2, number_of(label.text));
    }
    sample.message(3, made);
  }
  body_.message(profile::sample, sample);
}

void pprof_profile::set_time(std::uint64_t since_1970_ns, std::uint64_t duration_ns) {
  body_.number(profile::time, since_1970_ns).number(profile::duration, duration_ns);
}

std::string pprof_profile::take() {
  body_.message(profile::period_type,
                proto().number(1, number_of("space")).number(2, number_of("bytes")));
  body_.number(profile::period, 1);
  return gzipped(body_.bytes() + strings_.bytes());
}

}  // namespace memtrace::exporting
