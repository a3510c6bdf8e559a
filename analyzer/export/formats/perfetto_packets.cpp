// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/perfetto_packets.h"

#include <utility>

namespace memtrace::exporting {

namespace {

// Numbers of fields, by message.
namespace trace_packet {
constexpr unsigned clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11,
                   interned_data = 12, sequence_flags = 13, track_descriptor = 60;
}
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5, counter = 8, child_ordering = 11,
                   order_rank = 12, sibling_merge = 15;
}
namespace event {
constexpr unsigned debug_annotations = 4, type = 9, name_number = 10, track = 11,
                   counter_value = 30, double_counter_value = 44, flow = 47, ending_flow = 48,
                   call_stack = 56, call_stack_weight = 57;
}
namespace interned {
constexpr unsigned event_names = 2, annotation_names = 3, functions = 5, frames = 6, stacks = 7,
                   files = 18;
}

constexpr std::uint64_t sequence_number = 1;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
constexpr std::uint64_t explicit_order = 3;
constexpr std::uint64_t never_merged = 2;  // by name with another track
constexpr std::uint64_t unit_bytes = 3;
constexpr std::uint64_t clock_realtime = 1, clock_boottime = 6;

}  // namespace

void perfetto_packets::begin(std::uint64_t time_ns) {
  if (std::exchange(has_begun_, true)) return;
  // Packets' times are of the boot-time clock unless they say otherwise: here the same as time of
  // day, so that a person can ask for that.
  proto snapshot;
  for (const auto clock : {clock_boottime, clock_realtime}) {
    snapshot.message(1, proto().number(1, clock).number(2, time_ns));
  }
  proto body;
  body.message(trace_packet::clock_snapshot, snapshot);
  body.number(trace_packet::sequence, sequence_number);
  body.number(trace_packet::sequence_flags, state_cleared);
  to_.write(proto().message(1, body).bytes());
}

void perfetto_packets::flush(proto& body) {
  body.number(trace_packet::sequence, sequence_number);
  body.number(trace_packet::sequence_flags, needs_state);
  if (!new_data_.bytes().empty()) {
    body.message(trace_packet::interned_data, new_data_);
    new_data_.clear();
  }
  to_.write(proto().message(1, body).bytes());
}

track_id perfetto_packets::add_track(track_id parent, std::string_view name, proto& descriptor) {
  const auto made = ++tracks_;
  descriptor.number(descriptor::uuid, made);
  if (!name.empty()) descriptor.text(descriptor::name, name);
  if (parent != 0) {
    descriptor.number(descriptor::parent, parent);
    descriptor.integer(descriptor::order_rank, children_[parent]++);
    descriptor.number(descriptor::sibling_merge, never_merged);
  }
  descriptor.number(descriptor::child_ordering, explicit_order);
  proto body;
  body.message(trace_packet::track_descriptor, descriptor);
  flush(body);
  return made;
}

track_id perfetto_packets::process_track(std::uint64_t pid, const std::string& name,
                                         const std::vector<std::string>& command) {
  proto process;
  process.number(1, pid);
  for (const auto& word : command) process.text(2, word);
  process.text(6, name);
  proto made;
  made.message(descriptor::process, process);
  return add_track(0, {}, made);
}

track_id perfetto_packets::track(track_id parent, std::string_view name) {
  proto made;
  return add_track(parent, name, made);
}

track_id perfetto_packets::bytes_track(track_id parent, std::string_view name,
                                       std::string_view share) {
  proto counter;
  counter.number(3, unit_bytes);
  if (!share.empty()) counter.text(7, share);
  proto made;
  made.message(descriptor::counter, counter);
  return add_track(parent, name, made);
}

track_id perfetto_packets::number_track(track_id parent, std::string_view name) {
  proto made;
  made.message(descriptor::counter, proto());
  return add_track(parent, name, made);
}

void perfetto_packets::packet(std::uint64_t time_ns, const proto& event) {
  proto body;
  body.number(trace_packet::timestamp, time_ns);
  body.message(trace_packet::track_event, event);
  flush(body);
}

void perfetto_packets::count(std::uint64_t time_ns, track_id track, std::uint64_t value) {
  proto made;
  made.number(event::type, static_cast<std::uint64_t>(type::counter));
  made.number(event::track, track).number(event::counter_value, value);
  packet(time_ns, made);
}

void perfetto_packets::count(std::uint64_t time_ns, track_id track, double value) {
  proto made;
  made.number(event::type, static_cast<std::uint64_t>(type::counter));
  made.number(event::track, track).real(event::double_counter_value, value);
  packet(time_ns, made);
}

void perfetto_packets::end_slice(std::uint64_t time_ns, track_id track) {
  proto made;
  made.number(event::type, static_cast<std::uint64_t>(type::end)).number(event::track, track);
  packet(time_ns, made);
}

void perfetto_packets::write(const track_event& told, type what) {
  proto made;
  made.number(event::type, static_cast<std::uint64_t>(what)).number(event::track, told.track);
  made.number(event::name_number, number_of(told.name, interned::event_names, names_));
  for (const auto& note : told.notes) {
    proto noted;
    noted.number(1, number_of(note.name, interned::annotation_names, note_names_));
    if (note.text.empty()) {
      noted.number(3, note.number);
    } else {
      noted.text(6, note.text);
    }
    made.message(event::debug_annotations, noted);
  }
  if (told.flow != 0) made.fixed(event::flow, told.flow);
  if (told.ending_flow != 0) made.fixed(event::ending_flow, told.ending_flow);
  if (told.call_stack != 0) {
    made.number(event::call_stack, told.call_stack);
    made.real(event::call_stack_weight, static_cast<double>(told.weight));
  }
  packet(told.time_ns, made);
}

std::uint64_t perfetto_packets::number_of(std::string_view text, unsigned field, numbers& known) {
  const auto [place, is_new] = known.try_emplace(std::string(text), known.size() + 1);
  if (is_new) new_data_.message(field, proto().number(1, place->second).text(2, text));
  return place->second;
}

std::uint64_t perfetto_packets::call_stack(const std::vector<told_frame>& outermost_first) {
  std::vector<std::uint64_t> frames;
  for (const auto& frame : outermost_first) {
    const auto known = frames_.find(frame);
    if (known != frames_.end()) {
      frames.push_back(known->second);
      continue;
    }
    const auto number = frames_.size() + 1;
    proto made;
    made.number(1, number);
    made.number(2, number_of(frame.function, interned::functions, functions_));
    if (!frame.file.empty()) {
      made.number(5, number_of(frame.file, interned::files, files_));
      if (frame.line != 0) made.number(6, frame.line);
    }
    new_data_.message(interned::frames, made);
    frames_.emplace(frame, number);
    frames.push_back(number);
  }
  const auto [place, is_new] = stacks_.try_emplace(frames, stacks_.size() + 1);
  if (is_new) {
    proto made;
    made.number(1, place->second);
    for (const auto frame : frames) made.number(2, frame);
    new_data_.message(interned::stacks, made);
  }
  return place->second;
}

}  // namespace memtrace::exporting
