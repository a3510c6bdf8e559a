// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/what_if/runs.h"

#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::what_if {

namespace {

class place_finder final : public trace::record_visitor {
 public:
  place_finder(const trace::dictionary& names, const std::set<std::uint64_t>& events)
      : names_(names), wanted_(events) {}

  void on_allocator(const trace::event& head, const trace::allocator_event& record) override {
    see(head, record.stack);
  }
  void on_reported(const trace::event& head, const trace::reported_event& record) override {
    see(head, record.stack);
  }

  [[nodiscard]] std::map<std::uint64_t, replay_place> found() && { return std::move(found_); }

 private:
  void see(const trace::event& head, trace::stack_id stack) {
    if (!wanted_.contains(head.number)) return;
    replay_place place;
    place.frames = code::frames_of(names_, stack);
    const std::string thread(names_[names_[head.thread].name]);
    if (place.frames.empty() && head.scope.forward) {
      // Backward runs without Python: the line of the forward pass says where.
      const auto forward = code::frames_of(names_, head.scope.forward);
      place.where = "backward of " + code::short_place(forward, {});
      place.frames = forward;
    } else {
      place.where = code::describe_place(place.frames, thread);
    }
    found_.emplace(head.number, std::move(place));
  }

  const trace::dictionary& names_;
  const std::set<std::uint64_t>& wanted_;
  std::map<std::uint64_t, replay_place> found_;
};

}  // namespace

std::map<std::uint64_t, replay_place> find_places(trace::reader reader,
                                                  const std::set<std::uint64_t>& events) {
  if (events.empty()) return {};
  place_finder finder(reader.names(), events);
  (void)reader.read(finder);
  return std::move(finder).found();
}

}  // namespace memtrace::what_if
