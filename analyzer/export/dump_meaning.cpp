// SPDX-License-Identifier: Apache-2.0
//
// The dump's lines about what memory means.
#include <fmt/core.h>

#include <iterator>

#include "analyzer/export/dump.h"

namespace memtrace::exporting {

namespace {

[[nodiscard]] std::string name_of(format::storage_role role) {
  using format::storage_role;
  switch (role) {
    case storage_role::parameter:
      return "parameter";
    case storage_role::buffer:
      return "buffer";
    case storage_role::gradient:
      return "gradient";
    case storage_role::optimizer_state:
      return "optimizer_state";
    case storage_role::input:
      return "input";
    case storage_role::output:
      return "output";
    case storage_role::workspace:
      return "workspace";
    case storage_role::host_copy:
      return "host_copy";
    case storage_role::leaf:
      return "leaf";
    case storage_role::leaf_gradient:
      return "leaf_gradient";
    case storage_role::user:
      return "user";
    case storage_role::cast:
      return "cast";
    case storage_role::held:
      return "held";
    case storage_role::copy:
      return "copy";
  }
  return fmt::format("role_{}", static_cast<std::uint64_t>(role));
}

[[nodiscard]] std::string name_of(format::phase_action action) {
  switch (action) {
    case format::phase_action::begin:
      return "begin";
    case format::phase_action::end:
      return "end";
    case format::phase_action::instant:
      return "instant";
  }
  return fmt::format("action_{}", static_cast<std::uint64_t>(action));
}

[[nodiscard]] std::string name_of(format::phase_source source) {
  switch (source) {
    case format::phase_source::user:
      return "user";
    case format::phase_source::nvtx:
      return "nvtx";
    case format::phase_source::backward:
      return "backward";
    case format::phase_source::optimizer_step:
      return "optimizer_step";
  }
  return fmt::format("source_{}", static_cast<std::uint64_t>(source));
}

[[nodiscard]] std::string name_of(format::step_source source) {
  switch (source) {
    case format::step_source::user:
      return "user";
    case format::step_source::optimizer:
      return "optimizer";
  }
  return fmt::format("source_{}", static_cast<std::uint64_t>(source));
}

}  // namespace

void dump_writer::add_scope(const trace::scope& scope) {
  if (scope.flags != 0) add("scope", scope.flags);
  if (scope.module) add("module", scope.module.value);
  if (scope.root) add("root", scope.root.value);
  if (scope.node) add("node", names_[scope.node]);
  if (scope.forward) add_stack(scope.forward, "forward");
}

void dump_writer::on_object(trace::object_id object, std::uint64_t address) {
  text_ = fmt::format(R"({{"kind":"object","object":{},"address":{})", object.value, address);
  end(0, false);
}

void dump_writer::on_module(const trace::event& next, const trace::module_event& record) {
  begin(next, "module");
  add("object", record.object.value);
  add("root", record.root.value);
  add("path", names_[record.path]);
  add("type", names_[record.type]);
  add("flags", record.flags);
  end(next.device, false);
}

void dump_writer::on_storage(const trace::event& next, const trace::storage_event& record) {
  begin(next, "storage");
  add("role", name_of(record.role));
  add("address", record.address);
  add("bytes", record.bytes);
  add("name", names_[record.name]);
  add("detail", names_[record.detail]);
  add("object", record.object.value);
  add("flags", record.flags);
  end(next.device, false);
}

void dump_writer::on_saved(const trace::event& next, const trace::saved_event& record) {
  begin(next, "saved");
  add("address", record.address);
  add("bytes", record.bytes);
  add("flags", record.flags);
  add("scalar_type", record.scalar_type);
  add("dimensions", record.dimensions);
  add("rows", record.rows);
  add("columns", record.columns);
  end(next.device, false);
}

void dump_writer::on_phase(const trace::event& head, const trace::phase_event& record) {
  begin(head, "phase");
  add("action", name_of(record.action));
  add("source", name_of(record.source));
  add("object", record.object.value);
  add("name", names_[record.name]);
  end(head.device, false);
}

void dump_writer::on_step(const trace::event& head, const trace::step_event& record) {
  begin(head, "step");
  add("source", name_of(record.source));
  add("object", record.object.value);
  add("name", names_[record.name]);
  end(head.device, false);
}

void dump_writer::on_counter(const trace::event& head, const trace::counter_event& record) {
  begin(head, "counter");
  add("name", names_[record.name]);
  fmt::format_to(std::back_inserter(text_), R"(,"value":{})", record.value);
  end(head.device, false);
}

void dump_writer::on_census(const trace::event& head, const trace::census_event& record) {
  begin(head, "census");
  add("action", record.action == format::census_action::begin ? "begin" : "end");
  add("reason", static_cast<std::uint64_t>(record.reason));
  add("flags", record.flags);
  add("bytes", record.bytes);
  add("nanoseconds", record.nanoseconds);
  end(head.device, false);
}

}  // namespace memtrace::exporting
