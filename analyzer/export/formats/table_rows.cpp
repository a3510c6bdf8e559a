// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/table_rows.h"

#include <algorithm>
#include <array>

#include "analyzer/export/formats/dump_fields.h"
#include "analyzer/export/tables/places.h"

namespace memtrace::exporting {

struct table_rows::more_of_event {
  tables::value address, bytes, block_bytes, allocated_bytes, reserved_bytes, stream;
  tables::value name, is_release, counter_value, error;
};

void table_rows::begin(const process& from) {
  from_.emplace(from);
  path_ = from.report.path;
  places_.next_process();
  for (const auto& device : from.report.devices) at(device.facts.device).report = &device;
  for (auto& [index, known] : devices_) {
    if (known.report != nullptr) known.steps.resize(known.report->steps.steps.size());
  }
}

table_rows::of_device& table_rows::at(std::uint32_t device) {
  return devices_[device];
}

void table_rows::carried(const block& one) {
  live_.emplace(one.serial, living{one, {}, 0});
}

void table_rows::became(const block& one, attribution::category before, const moment& now) {
  const auto found = live_.find(one.serial);
  if (found == live_.end()) return;
  found->second.one.what = one.what;
  found->second.before = before;
  found->second.since = now.event;
}

void table_rows::happened(const allocator_event& event, const block* one, const moment& after) {
  pass_steps(at(event.device), after);
  more_of_event more;
  if (event.kind != format::kind::oom) more.address = tables::whole(event.address);
  more.bytes = tables::whole(event.size);
  more.allocated_bytes = tables::whole(after.allocated);
  more.reserved_bytes = tables::whole(after.reserved);
  more.stream = tables::whole(event.stream);
  const bool is_birth = one != nullptr && event.kind == format::kind::alloc;
  if (one != nullptr) {
    const auto bytes = static_cast<std::int64_t>(one->bytes);
    more.block_bytes = tables::whole(is_birth ? bytes : -bytes);
  }
  const trace::event head{event.number, event.time_ns, event.device, event.thread, {}};
  add_event(head, text::enum_name(event.kind), event.stack, more);
  if (one == nullptr) return;
  if (is_birth) {
    live_.emplace(one->serial, living{*one, {}, 0});
    return;
  }
  const auto found = live_.find(one->serial);
  if (found == live_.end()) return;
  add_block(found->second, &event);
  live_.erase(found);
}

void table_rows::add_event(const trace::event& head, std::string_view kind, trace::stack_id stack,
                           const more_of_event& more) {
  const auto& run = from_->report.run;
  const auto number = places_.stack(from_->names, stack);
  const auto site = places_.site_of(number);
  to_->add(
      tables::events,
      std::array{tables::whole(from_->number),
                 tables::whole(run.pid),
                 tables::whole(run.rank),
                 tables::words(path_),
                 tables::whole(head.number),
                 tables::words(kind),
                 tables::whole(head.time_ns),
                 tables::whole(head.device),
                 tables::whole(from_->names[head.thread].system_id),
                 more.stream,
                 more.address,
                 more.bytes,
                 more.block_bytes,
                 more.allocated_bytes,
                 more.reserved_bytes,
                 site == 0 ? tables::value() : tables::whole(site),
                 site == 0 ? tables::value() : tables::value(std::string_view(places_[site].line)),
                 number == 0 ? tables::value() : tables::whole(number),
                 more.name,
                 more.is_release,
                 more.counter_value,
                 more.error});
}

void table_rows::add_block(const living& of, const allocator_event* freed) {
  const auto& one = of.one;
  const auto& run = from_->report.run;
  const auto stack = places_.stack(from_->names, one.stack);
  const auto site = places_.site_of(stack);
  tables::value root, path, type, forward_line, forward_stack;
  if (one.module != 0 && from_->report.fates) {
    const auto& row = from_->report.fates->devices.at(one.device).modules[one.module];
    root = tables::words(row.root);
    path = std::string_view(row.path);
    type = tables::words(row.type);
  }
  if (one.fate != nullptr && one.fate->forward) {
    const auto forward = places_.stack(from_->names, one.fate->forward);
    forward_stack = tables::whole(forward);
    forward_line = std::string_view(places_[places_.site_of(forward)].line);
  }
  to_->add(
      tables::blocks,
      std::array{tables::whole(from_->number),
                 tables::whole(run.pid),
                 tables::whole(run.rank),
                 tables::words(path_),
                 tables::whole(one.device),
                 tables::whole(one.address),
                 tables::whole(one.requested),
                 tables::whole(one.bytes),
                 tables::whole(one.stream),
                 tables::whole(from_->names[one.thread].system_id),
                 tables::whole(one.born_event),
                 tables::whole(one.born_ns),
                 freed == nullptr ? tables::value() : tables::whole(freed->number),
                 freed == nullptr ? tables::value() : tables::whole(freed->time_ns),
                 tables::whole(one.step),
                 tables::value(attribution::name_of(one.what)),
                 of.before ? tables::value(attribution::name_of(*of.before)) : tables::value(),
                 of.before ? tables::whole(of.since) : tables::value(),
                 tables::value(attribution::name_of(one.how)),
                 tables::words(one.rule),
                 tables::value(attribution::name_of(one.born_in)),
                 root,
                 path,
                 type,
                 tables::words(name_of(*from_, one)),
                 site == 0 ? tables::value() : tables::whole(site),
                 site == 0 ? tables::value() : tables::value(std::string_view(places_[site].line)),
                 stack == 0 ? tables::value() : tables::whole(stack),
                 forward_line,
                 forward_stack});
  auto& known = at(one.device);
  auto& sums = known.sites[site];
  ++sums.blocks;
  sums.bytes += one.bytes;
  const auto peak = known.report == nullptr ? 0 : known.report->peak_allocated.event;
  if (one.born_event <= peak && (freed == nullptr || freed->number > peak)) {
    ++sums.peak_blocks;
    sums.peak_bytes += one.bytes;
  }
  if (freed != nullptr) return;
  ++sums.unfreed_blocks;
  sums.unfreed_bytes += one.bytes;
}

// The bytes reserved in each step, which the report does not have.
void table_rows::pass_steps(of_device& known, const moment& after) {
  if (known.report == nullptr) return;
  const auto& ends = known.report->steps.steps;
  for (; known.step < ends.size() && ends[known.step].end_event < after.event; ++known.step) {
    if (known.has_reserved) known.steps[known.step] = known.now;
    known.now.peak = known.now.end;
  }
  known.has_reserved = true;
  known.now.end = after.reserved;
  known.now.peak = std::max(known.now.peak, after.reserved);
}

void table_rows::add_steps(std::uint32_t device, const of_device& known) {
  const auto& run = from_->report.run;
  for (std::size_t i = 0; i < known.steps.size(); ++i) {
    const auto& step = known.report->steps.steps[i];
    const auto& seen = known.steps[i];
    to_->add(tables::steps,
             std::array{tables::whole(from_->number), tables::whole(run.pid),
                        tables::whole(run.rank), tables::whole(device), tables::whole(i),
                        tables::whole(step.end_event), tables::whole(step.end_ns),
                        tables::whole(step.left), tables::whole(step.peak_event),
                        tables::whole(step.peak), seen ? tables::whole(seen->end) : tables::value(),
                        seen ? tables::whole(seen->peak) : tables::value()});
  }
}

void table_rows::add_sites(std::uint32_t device, const of_device& known) {
  const auto& run = from_->report.run;
  for (const auto& [site, sums] : known.sites) {
    std::array<tables::value, 5> where;
    if (site != 0) {
      const auto& [frame, line] = places_[site];
      where = {std::string_view(line), std::string_view(frame.file), tables::whole(frame.line),
               std::string_view(frame.function), tables::whole(frame.user ? 1 : 0)};
    }
    to_->add(
        tables::sites,
        std::array{tables::whole(from_->number), tables::whole(run.pid), tables::whole(run.rank),
                   tables::whole(device), tables::whole(site), where[0], where[1], where[2],
                   where[3], where[4], tables::whole(sums.blocks), tables::whole(sums.bytes),
                   tables::whole(sums.peak_blocks), tables::whole(sums.peak_bytes),
                   tables::whole(sums.unfreed_blocks), tables::whole(sums.unfreed_bytes)});
  }
}

void table_rows::end(const process& from, const std::vector<moment>& /*last*/) {
  for (const auto& [serial, one] : live_) add_block(one, nullptr);
  for (auto& [device, known] : devices_) {
    if (known.has_reserved && known.step < known.steps.size()) {
      known.steps[known.step] = known.now;
    }
    add_steps(device, known);
    add_sites(device, known);
  }
  tables::add_report_rows(from.report, from.number, places_, *to_);
  live_.clear();
  devices_.clear();
  from_.reset();
}

void table_rows::on_operation(const trace::event& head, const trace::operation_event& record) {
  const auto name = name_or_number(static_cast<format::operation>(record.operation), "operation");
  more_of_event more;
  more.name = std::string_view(name);
  add_event(head, "operation", {}, more);
}

void table_rows::on_cuda_call(const trace::event& head, const trace::cuda_call_event& record) {
  more_of_event more;
  more.address = tables::whole(record.address);
  more.bytes = tables::whole(record.size);
  more.name = tables::words(from_->names[record.api]);
  more.is_release = tables::whole(record.release ? 1 : 0);
  if (record.error != 0) more.error = tables::whole(record.error);
  add_event(head, "cuda_call", record.stack, more);
}

void table_rows::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& record) {
  more_of_event more;
  more.address = tables::whole(record.address);
  more.name = tables::words(from_->names[record.api]);
  more.error = tables::whole(record.error);
  add_event(head, "cuda_undo", {}, more);
}

void table_rows::on_message(const trace::event& head, const trace::message_event& record) {
  more_of_event more;
  more.name = tables::words(record.text);
  add_event(head, "message", {}, more);
}

void table_rows::on_phase(const trace::event& head, const trace::phase_event& record) {
  more_of_event more;
  more.name = tables::words(from_->names[record.name]);
  add_event(head, "phase", {}, more);
}

void table_rows::on_step(const trace::event& head, const trace::step_event& record) {
  more_of_event more;
  more.name = tables::words(from_->names[record.name]);
  add_event(head, "step", {}, more);
}

void table_rows::on_counter(const trace::event& head, const trace::counter_event& record) {
  more_of_event more;
  more.name = tables::words(from_->names[record.name]);
  more.counter_value = record.value;
  add_event(head, "counter", {}, more);
}

void table_rows::on_heap_scan(const trace::event& head, const trace::heap_scan_event& record) {
  more_of_event more;
  more.bytes = tables::whole(record.bytes);
  add_event(head, "census", {}, more);
}

}  // namespace memtrace::exporting
