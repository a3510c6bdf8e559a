// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/snapshot.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace memtrace::exporting {

namespace {

[[nodiscard]] word action_of(format::kind kind) {
  switch (kind) {
    case format::kind::alloc:
      return word::alloc;
    case format::kind::free_requested:
      return word::free_requested;
    case format::kind::free_completed:
      return word::free_completed;
    case format::kind::segment_alloc:
      return word::segment_alloc;
    case format::kind::segment_free:
      return word::segment_free;
    case format::kind::segment_map:
      return word::segment_map;
    case format::kind::segment_unmap:
      return word::segment_unmap;
    case format::kind::oom:
      return word::oom;
    default:
      return word::snapshot;
  }
}

[[nodiscard]] allocator::settings settings_in(
    std::variant<allocator::settings, allocator::refusal> found) {
  if (const auto* const refused = std::get_if<allocator::refusal>(&found)) return refused->left;
  return std::get<allocator::settings>(found);
}

[[nodiscard]] bool is_segment(format::kind kind) {
  return kind == format::kind::segment_alloc || kind == format::kind::segment_map;
}

[[nodiscard]] heap::range range_of(const allocator_event& made) {
  heap::range found;
  found.bytes = made.size;
  found.stream = made.stream;
  found.pool = made.pool;
  found.expandable = made.kind == format::kind::segment_map;
  found.small = made.size <= allocator::small_buffer;
  found.event = made.number;
  found.time_ns = made.time_ns;
  found.stack = made.stack;
  found.thread = made.thread;
  return found;
}

}  // namespace

snapshot::snapshot(destination& to, const options& wanted) : wanted_(wanted), file_(to) {}

void snapshot::begin(const process& from) {
  from_ = &from;
  frames_ = std::make_unique<frame_lists>(from.names, file_);
  words_ = std::make_unique<block_words>(from, file_);
  const auto& run = from.report.run;
  completes_frees_ = run.event_source != "reports";
  settings_text_ = run.alloc_conf;
  settings_ = settings_in(allocator::parse_settings(run.alloc_conf, run.torch));
}

snapshot::of_device& snapshot::at(std::uint32_t device) {
  auto& known = devices_[device];
  if (known == nullptr) known = std::make_unique<of_device>(file_, wanted_.top);
  return *known;
}

void snapshot::put(of_device& device, format::kind kind, told event) {
  // The viewer takes the categories in the order in which they come, gives the first one's colour
  // to the sum of what is too small to be drawn, and stops where none is called unknown.
  if (!std::exchange(device.has_unknown, true)) {
    if (kind == format::kind::alloc) {
      put(device, format::kind::snapshot, {.category = static_cast<pickle::memo>(word::unknown)});
    } else {
      event.category = static_cast<pickle::memo>(word::unknown);
    }
  }
  encode(kind, event);
  device.events.add(kind, event.address, event_);
}

// Into event_.
void snapshot::encode(format::kind kind, const told& event) {
  const auto number = [&](word name, std::uint64_t value) {
    get(event_, name);
    pickle::integer(event_, value);
  };
  const auto stored = [&](word name, pickle::memo value) {
    get(event_, name);
    pickle::get(event_, value);
  };
  event_.clear();
  pickle::dict(event_);
  pickle::mark(event_);
  get(event_, word::action);
  get(event_, action_of(kind));
  number(kind == format::kind::oom ? word::device_free : word::addr, event.address);
  number(word::size, event.size);
  number(word::stream, event.stream);
  number(word::time_us, (from_->report.run.started_ns + event.time_ns) / 1000);
  if (event.words != 0) stored(word::user_metadata, event.words);
  if (event.category != 0) stored(word::category, event.category);
  get(event_, word::frames);
  event.frames == 0 ? pickle::list(event_) : pickle::get(event_, event.frames);
  pickle::set_items(event_);
}

snapshot::told snapshot::told_of(const allocator_event& event) {
  told made;
  made.address = event.kind == format::kind::oom ? event.device_free : event.address;
  made.size = event.size;
  made.stream = event.stream;
  made.time_ns = event.time_ns;
  const bool backward = event.scope.in_backward();
  made.frames =
      frames_->of(event.stack, event.thread, backward ? event.scope.forward : trace::stack_id{},
                  backward ? event.scope.node : trace::text_id{});
  return made;
}

// The heap as it is when the window begins. Stacks of what is gone by then stay out of the file.
void snapshot::earlier(const allocator_event& event, const block* one) {
  auto& device = at(event.device);
  if (is_segment(event.kind)) {
    device.memory.add(event.address, range_of(event));
  } else if (event.kind == format::kind::segment_free ||
             event.kind == format::kind::segment_unmap) {
    device.memory.remove(event.address, event.size);
  } else if (event.kind == format::kind::free_requested && one != nullptr && completes_frees_) {
    device.pending.insert_or_assign(event.address, std::pair(*one, event));
  } else if (event.kind == format::kind::free_completed || event.kind == format::kind::alloc) {
    device.pending.erase(event.address);
  }
}

void snapshot::open_window() {
  if (std::exchange(is_open_, true)) return;
  for (auto& [index, device] : devices_) {
    put_segments_before(*device);
    std::vector<std::pair<block, allocator_event>> waiting;
    for (const auto& [address, one] : std::exchange(device->pending, {})) waiting.push_back(one);
    std::ranges::sort(waiting, {}, [](const auto& one) { return one.first.serial; });
    for (const auto& [one, request] : waiting) {
      allocated_before(one);
      requested_free(*device, &one, told_of(request));
    }
  }
}

// Those that are there already, in the order in which they came.
void snapshot::put_segments_before(of_device& device) {
  std::vector<std::pair<std::uint64_t, heap::range>> made;
  device.memory.for_each_range(
      [&](std::uint64_t address, const heap::range& one) { made.emplace_back(address, one); });
  std::ranges::stable_sort(made, {}, [](const auto& one) { return one.second.event; });
  for (const auto& [address, one] : made) {
    put(device, one.expandable ? format::kind::segment_map : format::kind::segment_alloc,
        {.address = address,
         .size = one.bytes,
         .stream = one.stream,
         .time_ns = one.time_ns,
         .frames = frames_->of(one.stack, one.thread, {}, {})});
  }
}

void snapshot::allocated_before(const block& one) {
  told event;
  event.address = one.address;
  event.size = one.requested;
  event.stream = one.stream;
  event.time_ns = one.born_ns;
  const auto* const fate = one.fate;
  event.frames =
      frames_->of(one.stack, one.thread, fate == nullptr ? trace::stack_id{} : fate->forward,
                  fate == nullptr ? trace::text_id{} : fate->node);
  born(at(one.device), one, event);
}

void snapshot::carried(const block& one) {
  open_window();
  allocated_before(one);
}

void snapshot::born(of_device& device, const block& one, told event) {
  event.words = words_->of(one);
  event.category = words_->category_of(one);
  if (device.memory.find(event.address) != nullptr) {  // its free was not recorded
    completed_free(device, event);
  }
  heap::block made;
  made.bytes = one.bytes;
  made.requested = event.size;
  made.stream = event.stream;
  made.frames = event.frames;
  made.words = event.words;
  device.memory.allocate(event.address, made);
  put(device, format::kind::alloc, event);
}

void snapshot::requested_free(of_device& device, const block* one, told event) {
  const auto& freed = device.memory.request_free(event.address, event.size, event.stream);
  if (one != nullptr) event.words = freed.words;
  put(device, format::kind::free_requested, event);
  if (!completes_frees_) completed_free(device, event);
}

void snapshot::completed_free(of_device& device, told event) {
  if (const auto* const freed = device.memory.find(event.address); freed != nullptr) {
    event.size = freed->requested;
    event.words = freed->words;
  }
  event.category = 0;
  device.memory.complete_free(event.address, event.size, event.stream);
  put(device, format::kind::free_completed, event);
}

void snapshot::made_segment(of_device& device, const allocator_event& event) {
  const auto one = told_of(event);
  if (const auto there = device.memory.segment_at(event.address); there != 0) {
    auto freed = one;  // that was not recorded
    freed.size = there;
    put(device, format::kind::segment_free, freed);
  }
  device.memory.add(event.address, range_of(event));
  put(device, event.kind, one);
}

void snapshot::happened(const allocator_event& event, const block* one, const moment&) {
  open_window();
  auto& device = at(event.device);
  switch (event.kind) {
    case format::kind::alloc:
      if (one != nullptr) born(device, *one, told_of(event));
      break;
    case format::kind::free_requested:
      requested_free(device, one, told_of(event));
      break;
    case format::kind::free_completed:
      completed_free(device, told_of(event));
      break;
    case format::kind::segment_free:
    case format::kind::segment_unmap:
      device.memory.remove(event.address, event.size);
      put(device, event.kind, told_of(event));
      break;
    case format::kind::snapshot: {
      told made;
      made.size = device.memory.active();
      made.time_ns = event.time_ns;
      put(device, event.kind, made);
      break;
    }
    default:
      if (is_segment(event.kind)) {
        made_segment(device, event);
      } else if (event.kind == format::kind::oom) {
        put(device, event.kind, told_of(event));
      }
  }
}

void snapshot::on_operation(const trace::event&, const trace::operation_event& record) {
  if (record.operation != static_cast<std::uint64_t>(format::operation::settings)) return;
  if (record.a != 0) return;  // PyTorch refused it
  settings_ =
      settings_in(allocator::change_settings(settings_, record.text, from_->report.run.torch));
  settings_text_ = record.text;
}

void snapshot::put_settings_at_end() {
  file_.set("allocator_settings",
            [&](std::string& to) { put_settings(to, settings_, settings_text_); });
  file_.set("external_annotations", [](std::string& to) { pickle::list(to); });
}

void snapshot::end(const process&, const std::vector<moment>&) {
  open_window();
  std::map<std::uint32_t, pickle::memo> lists;
  encode(format::kind::snapshot, {.category = static_cast<pickle::memo>(word::unknown)});
  for (auto& [index, device] : devices_) lists[index] = device->events.finish(event_);
  for (auto& [index, device] : devices_) {
    device->memory.resolve([&](trace::stack_id stack, trace::thread_id thread) {
      return frames_->of(stack, thread, {}, {});
    });
  }
  file_.set(word::segments, [&](std::string& to) {
    list_maker made(to);
    for (const auto& [index, device] : devices_) device->memory.put(to, made, index);
  });
  put_settings_at_end();
  file_.set(word::device_traces, [&](std::string& to) {
    list_maker made(to);
    std::uint32_t next = 0;
    for (const auto& [index, list] : lists) {
      for (; next < index; ++next) {
        made.next();
        pickle::list(to);
      }
      made.next();
      pickle::get(to, list);
      ++next;
    }
  });
  file_.end();
}

std::optional<std::string> snapshot::finish() {
  if (!devices_.empty()) return std::nullopt;
  return "no event of PyTorch's caching allocator was recorded, or none in the part that was asked "
         "for, and a snapshot consists of them; memtrace report says what the trace has";
}

std::unique_ptr<sink> make_snapshot(destination& to, const options& wanted) {
  return std::make_unique<snapshot>(to, wanted);
}

}  // namespace memtrace::exporting
