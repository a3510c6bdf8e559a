// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace whose report and fates are known already, and tells an exporter of it (sink.h). Its
// memory is proportional to the blocks that live at once.
//
//   const auto report = run::load(path, reader, {.fates = true});
//   auto again = reader.again();
//   feed told({report, reader.names(), 0, {}}, exporter, {});
//   again.read(told);  told.end();
//
// An event is told when its totals are: after the allocator's report on it, which comes next, or
// when the next record comes without one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/export/formats/device_blocks.h"
#include "analyzer/export/formats/sink.h"
#include "analyzer/model/replay/residency.h"

namespace memtrace::exporting {

// Events, both included.
struct window {
  std::uint64_t from = 0;
  std::uint64_t to = ~std::uint64_t{0};
};

class feed final : public trace::record_visitor {
 public:
  // Calls to.begin(), and all else while the trace is read.
  feed(const process& from, sink& to, window wanted);

#define MEMTRACE_HANDLER(handler, name, type) \
  void handler(const trace::event& head, const trace::type& record) override;
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER)
#undef MEMTRACE_HANDLER
  void on_info(std::string_view key, std::string_view value) override;
  void on_thread(trace::thread_id thread) override;
  void on_device(const trace::device_facts& facts) override;
  void on_report(const trace::report_event& report) override;
  void on_object(trace::object_id object, std::uint64_t address) override;

  // After the last record: the rest, and to.end().
  void end();
  // The window is behind: the rest of the trace need not be read.
  [[nodiscard]] bool is_behind() const {
    return is_behind_;
  }

 private:
  struct waiting {
    allocator_event event;
    std::optional<block> one;
  };

  [[nodiscard]] device_blocks& at(std::uint32_t device);
  void take(const allocator_event& event, std::uint64_t least_bytes);
  void change_backing(const trace::event& head, const replay::backing_change& what);
  void pass_backwards(const allocator_event& event);
  void tell();  // the event that waits
  void enter(std::uint64_t event);
  // Passes on what waits before this event; then whether a record of the event is to be passed on.
  [[nodiscard]] bool is_next_told(std::uint64_t event);
  [[nodiscard]] bool is_in_window(std::uint64_t event) const {
    return window_.from <= event && event <= window_.to;
  }

  process from_;
  sink& to_;
  window window_;
  bool has_entered_ = false;
  bool is_behind_ = false;
  std::uint64_t born_ = 0;  // blocks
  std::size_t backwards_seen_ = 0;
  std::map<std::uint32_t, std::unique_ptr<device_blocks>> devices_;
  std::optional<waiting> waiting_;
  replay::backing_calls backing_;
};

}  // namespace memtrace::exporting
