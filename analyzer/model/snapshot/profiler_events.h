// SPDX-License-Identifier: Apache-2.0
//
// Takes a profiler's trace token by token, as nlohmann's parser hands them out, and keeps what
// memory needs of it. It stops the parser where the file turns out to be something else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "analyzer/model/snapshot/profiler_contents.h"

namespace memtrace::snapshot {

// The nanoseconds of a time in microseconds as the file writes it; nothing where it is none.
[[nodiscard]] std::optional<std::uint64_t> nanoseconds_of(std::string_view microseconds);

class profiler_events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  enum class ending : std::uint8_t { fine, memory_timeline, other, too_many };

  profiler_events(profiler_contents& to, std::function<void()> on_token)
      : to_(to), on_token_(std::move(on_token)) {}

  [[nodiscard]] ending how() const { return how_; }
  [[nodiscard]] bool has_events() const { return has_events_; }
  [[nodiscard]] std::uint64_t error_at() const { return error_at_; }

  bool null() override { return other_value(); }
  bool boolean(bool) override { return other_value(); }
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& written) override;
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return other_value(); }
  bool start_object(std::size_t elements) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& why) override;

 private:
  enum class part : std::uint8_t { none, events, devices, distributed };
  enum class field : std::uint8_t {
    none,
    base_time,
    rank,
    world_size,
    name,
    category,
    time,
    duration,
    thread,
    arguments,
    address,
    bytes,
    device_type,
    device,
    allocated,
    reserved,
    device_number,
    device_total,
  };
  struct entry {
    std::string name;
    std::string category;
    std::optional<std::uint64_t> time_ns, duration_ns, thread;
    std::optional<std::uint64_t> address, allocated, reserved;
    std::optional<std::int64_t> bytes, device_type, device;
    std::optional<std::uint64_t> number, total;  // of a device's properties
  };

  [[nodiscard]] bool stop(ending how);
  [[nodiscard]] bool token();        // false: it is no trace
  [[nodiscard]] bool other_value();  // of a type that means nothing here
  [[nodiscard]] field field_named(std::string_view name) const;
  void take(field what, std::int64_t value);
  [[nodiscard]] bool end_event();
  void end_device();
  [[nodiscard]] bool add_memory();
  [[nodiscard]] bool add_mark();

  profiler_contents& to_;
  std::function<void()> on_token_;
  ending how_ = ending::fine;
  std::uint64_t error_at_ = 0;
  unsigned depth_ = 0;  // objects and arrays that are open
  bool root_is_array_ = false;
  bool has_events_ = false;
  bool in_arguments_ = false;
  part part_ = part::none;
  field field_ = field::none;
  entry now_;
};

}  // namespace memtrace::snapshot
