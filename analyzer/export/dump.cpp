// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/dump.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/text/utf8.h"

namespace memtrace::exporting {

namespace {

// A line waits for a report this many lines; more means that none comes.
constexpr std::size_t most_waiting_lines = 1024;
constexpr std::size_t most_cached_bytes = 128u << 20;

[[nodiscard]] std::string_view name_of(format::kind kind) {
  switch (kind) {
#define MEMTRACE_KIND_NAME(name, number, timed, payload) \
  case format::kind::name:                               \
    return #name;
    MEMTRACE_RECORD_KINDS(MEMTRACE_KIND_NAME)
#undef MEMTRACE_KIND_NAME
  }
  return "unknown";
}

[[nodiscard]] std::string name_of(std::uint64_t operation) {
  switch (static_cast<format::operation>(operation)) {
    case format::operation::empty_cache_begin:
      return "empty_cache_begin";
    case format::operation::empty_cache_end:
      return "empty_cache_end";
    case format::operation::pool_begin:
      return "pool_begin";
    case format::operation::pool_end:
      return "pool_end";
    case format::operation::pool_create:
      return "pool_create";
    case format::operation::pool_no_split:
      return "pool_no_split";
    case format::operation::pool_use_on_oom:
      return "pool_use_on_oom";
    case format::operation::unknown_entry_point:
      return "unknown_entry_point";
    case format::operation::witness:
      return "witness";
    case format::operation::witness_state:
      return "witness_state";
    case format::operation::pool_release:
      return "pool_release";
    case format::operation::memory_fraction:
      return "memory_fraction";
    case format::operation::settings:
      return "settings";
    case format::operation::event_synchronize:
      return "event_synchronize";
  }
  return fmt::format("operation_{}", operation);
}

}  // namespace

void dump_writer::begin(const trace::event& head, std::string_view kind) {
  text_.clear();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"n":{},"kind":"{}","t_ns":{},"device":{},"thread":{})", head.number, kind,
                 head.time_ns, head.device, names_[head.thread].system_id);
}

void dump_writer::add(std::string_view key, std::uint64_t value) {
  fmt::format_to(std::back_inserter(text_), R"(,"{}":{})", key, value);
}

void dump_writer::add(std::string_view key, std::string_view value) {
  fmt::format_to(std::back_inserter(text_), R"(,"{}":)", key);
  text::append_json_string(text_, value);
}

void dump_writer::add_stack(trace::stack_id stack, std::string_view key) {
  if (!options_.stacks) return;
  fmt::format_to(std::back_inserter(text_), R"(,"{}":)", key);
  if (const auto known = stacks_.find(stack.value); known != stacks_.end()) {
    text_ += known->second;
    return;
  }
  std::string json = "[";
  for (auto at = stack; at; at = names_[at].parent) {
    const auto frame = names_[names_[at].innermost];
    json += json.size() == 1 ? "{\"file\":" : ",{\"file\":";
    text::append_json_string(json, names_[frame.file]);
    fmt::format_to(std::back_inserter(json), R"(,"line":{},"function":)", frame.line);
    text::append_json_string(json, names_[frame.function]);
    json += '}';
  }
  json += ']';
  text_ += json;
  if (stack_bytes_ + json.size() > most_cached_bytes) return;
  stack_bytes_ += json.size();
  stacks_.emplace(stack.value, std::move(json));
}

void dump_writer::end(std::uint32_t device, bool waits) {
  lines_.push_back({std::move(text_), device, waits});
  write_ready(false);
}

void dump_writer::stop_waiting(std::uint32_t device) {
  for (auto& waiting : lines_) {
    if (waiting.device == device) waiting.waits = false;
  }
}

void dump_writer::write_ready(bool all) {
  while (!lines_.empty() && (all || !lines_.front().waits || lines_.size() > most_waiting_lines)) {
    auto& text = lines_.front().text;
    text += "}\n";
    if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) failed_ = true;
    lines_.pop_front();
  }
}

void dump_writer::on_info(std::string_view key, std::string_view value) {
  replay_.on_info(key, value);
  text_ = R"({"kind":"info")";
  add("key", key);
  add("value", value);
  end(0, false);
}

void dump_writer::on_thread(trace::thread_id thread) {
  text_ = R"({"kind":"thread")";
  add("thread", names_[thread].system_id);
  add("name", names_[names_[thread].name]);
  end(0, false);
}

void dump_writer::on_device(const trace::device_facts& facts) {
  replay_.on_device(facts);
  text_ = fmt::format(R"({{"kind":"device","device":{})", facts.device);
  add("name", names_[facts.name]);
  add("total", facts.total_bytes);
  add("free_before_first_segment", facts.free_before_first_segment);
  add("compute_major", facts.compute_major);
  add("compute_minor", facts.compute_minor);
  add("multiprocessors", facts.multiprocessors);
  end(facts.device, false);
}

void dump_writer::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  replay_.on_allocator(head, record);
  const bool reports =
      record.kind == format::kind::alloc || record.kind == format::kind::free_requested;
  if (reports) stop_waiting(head.device);
  begin(head, name_of(record.kind));
  if (record.kind == format::kind::oom) {
    add("device_free", record.device_free);
  } else {
    add("address", record.address);
  }
  add("size", record.size);
  add("stream", record.stream);
  fmt::format_to(std::back_inserter(text_), R"(,"pool":[{},{}])", record.pool.first,
                 record.pool.second);
  add_scope(head.scope);
  add_stack(record.stack);
  end(head.device, reports);
}

void dump_writer::on_report(const trace::report_event& report) {
  replay_.on_report(report);
  const auto waiting = std::find_if(lines_.rbegin(), lines_.rend(), [&](const line& candidate) {
    return candidate.waits && candidate.device == report.device;
  });
  if (waiting == lines_.rend()) {  // of an allocation that no record tells of
    text_ =
        fmt::format(R"({{"kind":"report","device":{},"address":{})", report.device, report.address);
  } else {
    text_ = std::move(waiting->text);
  }
  fmt::format_to(std::back_inserter(text_), R"(,"block":{})", report.block_bytes);
  add("allocated", report.allocated);
  add("reserved", report.reserved);
  const auto replayed = replay_.device(report.device)->allocator.totals();
  add("replayed_allocated", replayed.allocated);
  add("replayed_reserved", replayed.reserved);
  if (waiting == lines_.rend()) {
    end(report.device, false);
  } else {
    waiting->text = std::move(text_);
    waiting->waits = false;
    write_ready(false);
  }
}

void dump_writer::on_reported(const trace::event& head, const trace::reported_event& record) {
  replay_.on_reported(head, record);
  begin(head, record.is_alloc ? "reported_alloc" : "reported_free");
  add("address", record.address);
  add("block", record.block_bytes);
  add_stack(record.stack);
  end(head.device, false);
}

void dump_writer::on_operation(const trace::event& head, const trace::operation_event& record) {
  replay_.on_operation(head, record);
  begin(head, "operation");
  add("operation", name_of(record.operation));
  add("a", record.a);
  add("b", record.b);
  add("text", record.text);
  end(head.device, false);
}

void dump_writer::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  replay_.on_cuda_call(head, call);
  begin(head, "cuda_call");
  add("api", names_[call.api]);
  add("address", call.address);
  add("size", call.size);
  add("handle", call.handle);
  text_ += call.release ? R"(,"release":true)" : R"(,"release":false)";
  add("error", call.error);
  if (call.has_owner) add("owner", names_[call.owner]);
  add_stack(call.stack);
  end(head.device, false);
}

void dump_writer::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) {
  replay_.on_cuda_undo(head, failed);
  begin(head, "cuda_undo");
  add("api", names_[failed.api]);
  add("address", failed.address);
  if (failed.handle != 0) add("handle", failed.handle);
  add("error", failed.error);
  end(head.device, false);
}

void dump_writer::on_message(const trace::event& head, const trace::message_event& record) {
  replay_.on_message(head, record);
  begin(head, "message");
  add("severity", record.severity);
  add("text", record.text);
  end(head.device, false);
}

void dump_writer::finish() {
  replay_.finish();
  write_ready(true);
}

}  // namespace memtrace::exporting
