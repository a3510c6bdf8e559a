// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/blocks_of_calls.h"

#include "memtrace/trace_format.h"

namespace memtrace::replay {

// Known before the first event, unless it is loaded later.
void blocks_of_calls::on_info(std::string_view key, std::string_view) {
  if (key == format::info_key::torch) stop();
  if (key == format::info_key::python && stops_for_python_) stop();
}

void blocks_of_calls::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  if (!is_alone_) return;
  driver_.call(head, names_[call.api], call);
  tell(head);
}

void blocks_of_calls::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) {
  if (!is_alone_) return;
  driver_.undo(head, names_[failed.api], failed);
  tell(head);
}

void blocks_of_calls::tell(const trace::event& head) {
  for (const auto& change : driver_.changes()) {
    auto here = head;
    here.device = change.of.device;
    const auto& site = change.of.site;
    const trace::stack_id stack = site.is_thread ? trace::stack_id{} : trace::stack_id{site.number};
    to_.on_reported(here, {change.came, change.of.id, change.of.bytes, stack});
    told_ = true;
  }
}

}  // namespace memtrace::replay
