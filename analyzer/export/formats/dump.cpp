// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/dump.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/export/formats/dump_fields.h"

namespace memtrace::exporting {

namespace {

// A line waits for a report this many lines; more means that none comes.
constexpr std::size_t most_waiting_lines = 1024;
constexpr std::size_t most_cached_bytes = 128u << 20;

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
  add_fields(facts);
  end(facts.device, false);
}

void dump_writer::on_report(const trace::report_event& report) {
  replay_.on_report(report);
  const auto waiting = std::find_if(lines_.rbegin(), lines_.rend(), [&](const line& candidate) {
    return candidate.waits && candidate.device == report.device;
  });
  constexpr unsigned what_is_new = format::report_block | format::report_totals;
  if (waiting == lines_.rend()) {  // of an allocation that no record tells of
    text_ = fmt::format(R"({{"kind":"report","device":{})", report.device);
    add_fields(report, what_is_new | format::report_address);
  } else {
    text_ = std::move(waiting->text);
    add_fields(report, what_is_new);
  }
  const auto replayed = replay_.device(report.device)->allocator.totals();
  // As the allocator counts, for which nothing sleeps.
  add("replayed_allocated", replayed.allocated + replayed.asleep);
  add("replayed_reserved", replayed.reserved + replayed.asleep_reserved);
  if (waiting == lines_.rend()) {
    end(report.device, false);
  } else {
    waiting->text = std::move(text_);
    waiting->waits = false;
    write_ready(false);
  }
}

void dump_writer::on_object(trace::object_id object, std::uint64_t address) {
  text_ = fmt::format(R"({{"kind":"object","object":{},"address":{})", object.value, address);
  end(0, false);
}

// One line a file, without its text.
void dump_writer::on_source(const trace::source_part& part) {
  if (part.offset != 0) return;
  text_ = R"({"kind":"source")";
  add_fields(part);
  end(0, false);
}

void dump_writer::on_expectation(const trace::expected_growth& said) {
  text_ = R"({"kind":"expectation")";
  add_fields(said);
  end(0, false);
}

void dump_writer::show(const trace::event& head, std::string_view kind, const auto& record) {
  begin(head, kind);
  add_fields(record);
  end(head.device, false);
}

void dump_writer::show(const trace::event& head, std::string_view /*kind*/,
                       const trace::allocator_event& record) {
  const bool reports =
      record.kind == format::kind::alloc || record.kind == format::kind::free_requested;
  if (reports) stop_waiting(head.device);
  begin(head, text::enum_name(record.kind));
  add_fields(record, format::flag_stream | format::flag_pool, &head.scope);
  end(head.device, reports);
}

void dump_writer::show(const trace::event& head, std::string_view /*kind*/,
                       const trace::reported_event& record) {
  begin(head, record.is_alloc ? "reported_alloc" : "reported_free");
  add_fields(record);
  end(head.device, false);
}

void dump_writer::show(const trace::event& head, std::string_view kind,
                       const trace::operation_event& record) {
  begin(head, kind);
  add("operation", name_or_number(static_cast<format::operation>(record.operation), kind));
  add_fields(record);
  end(head.device, false);
}

void dump_writer::show(const trace::event& head, std::string_view kind,
                       const trace::cuda_call_event& call) {
  begin(head, kind);
  add_fields(call, format::call_failed | (call.has_owner ? format::call_owner : 0u));
  end(head.device, false);
}

void dump_writer::show(const trace::event& head, std::string_view kind,
                       const trace::cuda_undo_event& failed) {
  begin(head, kind);
  add_fields(failed);
  if (failed.handle != 0) add("handle", failed.handle);
  add("error", failed.error);
  end(head.device, false);
}

#define MEMTRACE_SHOW(handler, name, type)                                         \
  void dump_writer::handler(const trace::event& head, const trace::type& record) { \
    replay_.handler(head, record);                                                 \
    show(head, #name, record);                                                     \
  }
MEMTRACE_EVENT_HANDLERS(MEMTRACE_SHOW)
#undef MEMTRACE_SHOW

// Fields without a value are left out, and the order is not that of the file.
void dump_writer::add_scope(const trace::scope& scope) {
  if (scope.flags != 0) add("scope", scope.flags);
  if (scope.module) add("module", scope.module.value);
  if (scope.root) add("root", scope.root.value);
  if (scope.node) add("node", names_[scope.node]);
  if (scope.forward) add_stack(scope.forward, "forward");
}

void dump_writer::finish() {
  replay_.finish();
  write_ready(true);
}

}  // namespace memtrace::exporting
