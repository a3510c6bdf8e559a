// SPDX-License-Identifier: Apache-2.0
//
// The packets of a Perfetto trace (perfetto_trace.proto): tracks, what happens on them, and the
// names and call stacks that are told once and then meant by number.
//
// Times are nanoseconds since 1970. Packets need not be in the order of their times: the trace
// processor sorts them. Those of one track and time stay in the order in which they were written,
// so that a slice's end goes before the next one's begin.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/proto.h"
#include "analyzer/export/formats/told_stack.h"

namespace memtrace::exporting {

using track_id = std::uint64_t;  // of the trace; 0: none

// A value beside an event's name.
struct annotation {
  std::string_view name;
  std::string_view text;     // or, where it is empty, …
  std::uint64_t number = 0;  //
};

struct track_event {
  std::uint64_t time_ns = 0;
  track_id track = 0;
  std::string_view name;
  std::vector<annotation> notes;
  std::uint64_t flow = 0;         // begins or goes on here; 0: none
  std::uint64_t ending_flow = 0;  // ends here
  std::uint64_t call_stack = 0;   // as call_stack() numbers it; 0: none
  std::uint64_t weight = 0;       // of the call stack: bytes
};

class perfetto_packets {
 public:
  explicit perfetto_packets(destination& to) : to_(to) {}

  // Once, before everything else.
  void begin(std::uint64_t time_ns);

  // Tracks are shown in the order in which they are made.
  [[nodiscard]] track_id process_track(std::uint64_t pid, const std::string& name,
                                       const std::vector<std::string>& command);
  [[nodiscard]] track_id track(track_id parent, std::string_view name);
  // `share`: those with the same one share an axis; empty: with none.
  [[nodiscard]] track_id bytes_track(track_id parent, std::string_view name,
                                     std::string_view share);
  [[nodiscard]] track_id number_track(track_id parent, std::string_view name);

  void count(std::uint64_t time_ns, track_id track, std::uint64_t value);
  void count(std::uint64_t time_ns, track_id track, double value);
  void begin_slice(const track_event& event) { write(event, type::begin); }
  void end_slice(std::uint64_t time_ns, track_id track);
  void instant(const track_event& event) { write(event, type::instant); }

  [[nodiscard]] std::uint64_t call_stack(const std::vector<told_frame>& outermost_first);

 private:
  enum class type : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };
  using numbers = std::unordered_map<std::string, std::uint64_t>;

  [[nodiscard]] track_id add_track(track_id parent, std::string_view name, proto& descriptor);
  void write(const track_event& event, type what);
  void packet(std::uint64_t time_ns, const proto& event);
  void flush(proto& body);
  // The number of a text of such a kind: a field of InternedData.
  [[nodiscard]] std::uint64_t number_of(std::string_view text, unsigned field, numbers& known);

  destination& to_;
  bool has_begun_ = false;
  track_id tracks_ = 0;
  std::map<track_id, std::int64_t> children_;  // of a track so far
  numbers names_;
  numbers note_names_;
  numbers functions_;
  numbers files_;
  std::map<told_frame, std::uint64_t> frames_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> stacks_;  // by their frames
  proto new_data_;                                              // InternedData of the next packet
};

}  // namespace memtrace::exporting
