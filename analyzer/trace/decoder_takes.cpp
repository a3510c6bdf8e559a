// SPDX-License-Identifier: Apache-2.0
//
// The records that are more than an event: they define something, or say what holds from here on.
#include "analyzer/trace/decoder.h"

#include <string>

#include "analyzer/text/utf8.h"

namespace memtrace::trace {

using format::kind;

namespace {

constexpr auto defined = dictionary::outcome::defined;

}  // namespace

decoder::verdict decoder::after(dictionary::outcome outcome) {
  if (outcome == dictionary::outcome::too_many) return verdict::too_many;
  return outcome == defined ? verdict::fine : verdict::malformed;
}

decoder::verdict decoder::take(kind /*what*/, unsigned /*flags*/, const allocator_event& record) {
  state_.stream = record.stream;
  state_.pool = record.pool;
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  state_.predictions[state_.device].see(record);
  visitor_.on_allocator(head, record);
  return verdict::fine;
}

decoder::verdict decoder::take(kind what, unsigned /*flags*/, const record::snapshot<ids>&) {
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_allocator(head, {.kind = what, .pool = {}});
  return verdict::fine;
}

decoder::verdict decoder::take(kind /*what*/, unsigned flags, report_event record) {
  auto& predicted = state_.predictions[state_.device];
  if ((flags & format::report_totals) == 0) {
    record.allocated = predicted.allocated(static_cast<std::uint64_t>(record.block_bytes));
    record.reserved = predicted.reserved();
  }
  predicted.settle(record.allocated, record.reserved);
  visitor_.on_report(record);
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, const record::info<ids>& fact) {
  std::string room_of_key, room_of_value;
  visitor_.on_info(text::repaired(fact.key, room_of_key),
                   text::repaired(fact.value, room_of_value));
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, operation_event record) {
  std::string room;
  record.text = text::repaired(record.text, room);
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_operation(head, record);
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, message_event record) {
  std::string room;
  record.text = text::repaired(record.text, room);
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_message(head, record);
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, const record::text<ids>& record) {
  return after(names_.define_text(record.words));
}

decoder::verdict decoder::take(kind, unsigned, const record::frame<ids>& record) {
  return after(names_.define_frame(record.file.value, record.function.value, record.line));
}

decoder::verdict decoder::take(kind, unsigned, const record::stack<ids>& record) {
  return after(names_.define_stack(record.parent.value, record.innermost.value));
}

decoder::verdict decoder::take(kind, unsigned, const record::thread<ids>& record) {
  const auto outcome = names_.define_thread(record.system_id, record.name.value);
  if (outcome == defined) visitor_.on_thread(names_.last_thread());
  return after(outcome);
}

// With an address it defines an object, without one it names a module.
decoder::verdict decoder::take(kind what, unsigned flags, const record::object<ids>& record) {
  if (record.address == 0) return take(what, flags, record.module);
  const auto outcome = names_.define_object(record.address);
  if (outcome == defined) visitor_.on_object(names_.last_object(), record.address);
  return after(outcome);
}

decoder::verdict decoder::take(kind, unsigned, const device_facts& facts) {
  if (facts.device >= max_devices) return verdict::malformed;
  visitor_.on_device(facts);
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, const record::context<ids>& now) {
  if (now.device >= max_devices) return verdict::malformed;
  state_.device = now.device;
  state_.thread = now.thread;
  return verdict::fine;
}

decoder::verdict decoder::take(kind, unsigned, const scope& now) {
  state_.scope = now;
  return verdict::fine;
}

}  // namespace memtrace::trace
