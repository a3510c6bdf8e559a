// SPDX-License-Identifier: Apache-2.0
//
// The records that are more than an event: they define something, or say what holds from here on.
#include "analyzer/trace/reader/decoder.h"

#include <string>

#include "analyzer/base/text/utf8.h"

namespace memtrace::trace {

using format::kind;

namespace {

constexpr auto defined = dictionary::outcome::defined;

}  // namespace

decoder::outcome decoder::after(dictionary::outcome of_name) {
  if (of_name == dictionary::outcome::too_many) return outcome::too_many;
  return of_name == defined ? outcome::fine : outcome::malformed;
}

decoder::outcome decoder::take(kind /*what*/, unsigned /*flags*/, allocator_event record) {
  state_.stream = record.stream;
  state_.pool = record.pool;
  auto head = timed();
  if (!times_.ok()) return outcome::malformed;
  generated_.show(head.scope, record.stack);
  state_.predictions[state_.device].see(record);
  visitor_.on_allocator(head, record);
  return outcome::fine;
}

decoder::outcome decoder::take(kind /*what*/, unsigned /*flags*/, reported_event record) {
  auto head = timed();
  if (!times_.ok()) return outcome::malformed;
  generated_.show(head.scope, record.stack);
  visitor_.on_reported(head, record);
  return outcome::fine;
}

// A record that says which line a line of generated code stands for tells no storage's role yet.
decoder::outcome decoder::take(kind /*what*/, unsigned /*flags*/, const storage_event& record) {
  const bool tells = record.role == format::storage_role::generated;
  if (tells && lines_ == generated::as_the_program) generated_.learn(record);
  visitor_.on_storage(untimed(), record);
  return outcome::fine;
}

decoder::outcome decoder::take(kind what, unsigned /*flags*/, const record::snapshot<ids>&) {
  const auto head = timed();
  if (!times_.ok()) return outcome::malformed;
  visitor_.on_allocator(head, {.kind = what, .pool = {}});
  return outcome::fine;
}

decoder::outcome decoder::take(kind /*what*/, unsigned flags, report_event record) {
  auto& predicted = state_.predictions[state_.device];
  if ((flags & format::report_totals) == 0) {
    record.allocated = predicted.allocated(static_cast<std::uint64_t>(record.block_bytes));
    record.reserved = predicted.reserved();
  }
  predicted.settle(record.allocated, record.reserved);
  visitor_.on_report(record);
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, const record::info<ids>& fact) {
  std::string room_of_key, room_of_value;
  const auto key = text::repaired(fact.key, room_of_key);
  const auto value = text::repaired(fact.value, room_of_value);
  if (key == format::info_key::proved) names_.add_proof(value);
  if (key == format::info_key::library) native_.learn(value);
  visitor_.on_info(key, value);
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, operation_event record) {
  std::string room;
  record.text = text::repaired(record.text, room);
  const auto head = timed();
  if (!times_.ok()) return outcome::malformed;
  visitor_.on_operation(head, record);
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, message_event record) {
  std::string room;
  record.text = text::repaired(record.text, room);
  const auto head = timed();
  if (!times_.ok()) return outcome::malformed;
  visitor_.on_message(head, record);
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, const record::text<ids>& record) {
  return after(names_.define_text(record.words));
}

decoder::outcome decoder::take(kind, unsigned, const record::frame<ids>& record) {
  return after(names_.define_frame(record.file.value, record.function.value, record.line));
}

// multiprocessing starts a process with a line of its own, `python -c "from multiprocessing.spawn
// import spawn_main; …"`, which would stand for the program's line of all that the process does.
bool decoder::begins_spawned_process(const record::stack<ids>& record) const {
  if (!record.parent || names_[record.parent].parent) return false;
  const auto typed = names_[names_[record.parent].innermost].file;
  const auto file = names_[names_[record.innermost].file];
  return names_[typed] == "<string>" && (file.ends_with("/multiprocessing/spawn.py") ||
                                         file.ends_with("/multiprocessing/forkserver.py"));
}

decoder::outcome decoder::take(kind, unsigned, const record::stack<ids>& record) {
  auto parent = record.parent;
  if (lines_ == generated::as_the_program && record.innermost) {
    if (const auto shown = native_.define(parent, record.innermost)) return after(*shown);
    if (begins_spawned_process(record)) parent = {};
  }
  return after(names_.define_stack(parent.value, record.innermost.value));
}

decoder::outcome decoder::take(kind, unsigned, const record::thread<ids>& record) {
  const auto defined_as = names_.define_thread(record.system_id, record.name.value);
  if (defined_as == defined) visitor_.on_thread(names_.last_thread());
  return after(defined_as);
}

// With an address it defines an object, without one it names a module.
decoder::outcome decoder::take(kind what, unsigned flags, const record::object<ids>& record) {
  if (record.address == 0) {
    generated_.learn(record.module);
    return take(what, flags, record.module);
  }
  const auto defined_as = names_.define_object(record.address);
  if (defined_as == defined) visitor_.on_object(names_.last_object(), record.address);
  return after(defined_as);
}

decoder::outcome decoder::take(kind, unsigned, const device_facts& facts) {
  if (facts.device >= max_devices) return outcome::malformed;
  visitor_.on_device(facts);
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, const record::context<ids>& now) {
  if (now.device >= max_devices) return outcome::malformed;
  state_.device = now.device;
  state_.thread = now.thread;
  return outcome::fine;
}

decoder::outcome decoder::take(kind, unsigned, const source_part& part) {
  const auto added = names_.add_source(part);
  if (added == defined) visitor_.on_source(part);
  return after(added);
}

decoder::outcome decoder::take(kind, unsigned, const expected_growth& said) {
  const auto added = names_.add_expectation(said);
  if (added == defined) visitor_.on_expectation(said);
  return after(added);
}

decoder::outcome decoder::take(kind, unsigned, const scope& now) {
  state_.scope = now;
  return outcome::fine;
}

}  // namespace memtrace::trace
