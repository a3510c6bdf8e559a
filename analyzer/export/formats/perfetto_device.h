// SPDX-License-Identifier: Apache-2.0
//
// The tracks of one device in a Perfetto trace, made when there is something to show on them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/formats/perfetto_packets.h"
#include "analyzer/export/formats/sink.h"

namespace memtrace::exporting {

class perfetto_device {
 public:
  // One of so many moments is written: the one with most allocated. `start_ns`: the start of the
  // process, since 1970.
  perfetto_device(perfetto_packets& to, track_id parent, const process& from, std::uint32_t device,
                  std::uint64_t start_ns, std::uint64_t moments_a_point);

  void happened(const allocator_event& event, const block* one, const moment& now);
  void used(std::uint64_t time_ns, std::uint64_t bytes);
  void note(std::uint64_t time_ns, std::string_view what, const std::vector<annotation>& notes);
  // Everything that is still open.
  void end(std::uint64_t time_ns);

  [[nodiscard]] track_id largest_track();

 private:
  void count(const moment& now);
  void ran(const block& one);
  void go_to_module(std::uint64_t time_ns, const std::string& path);

  perfetto_packets& to_;
  const process& from_;
  std::uint32_t device_;
  std::uint64_t start_ns_;
  std::uint64_t moments_a_point_;
  track_id group_ = 0;
  track_id allocated_ = 0;
  track_id reserved_ = 0;
  track_id used_ = 0;
  track_id phases_ = 0;
  track_id modules_ = 0;
  track_id events_ = 0;
  track_id largest_ = 0;
  attribution::by_category<track_id> categories_;
  moment told_;
  bool has_told_ = false;
  moment highest_;  // of those that are not told yet
  std::uint64_t waiting_ = 0;
  bool has_phase_ = false;
  attribution::phase phase_{};
  std::vector<std::string> open_modules_;  // from the model inwards
  std::uint32_t module_row_ = 0;
};

}  // namespace memtrace::exporting
