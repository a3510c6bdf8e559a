// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/pickle_file.h"

namespace memtrace::exporting {

namespace {

constexpr std::size_t portion = 1u << 20;  // bytes

}  // namespace

pickle_file::pickle_file(destination& to) : to_(to) {
  pickle::begin(bytes_);
  pickle::dict(bytes_);
  // The first is the key that the others are set under; until it is stored, a text of its own.
  pickle::memo number = 0;
  const auto add = [&](std::string_view name) {
    number == 0 ? pickle::text(bytes_, name) : get(bytes_, word::device_traces);
    if (number == 0) pickle::store(bytes_, number);
    pickle::text(bytes_, name);
    if (number != 0) pickle::store(bytes_, number);
    pickle::set_item(bytes_);
    ++number;
  };
#define MEMTRACE_ADD(name) add(#name);
  MEMTRACE_SNAPSHOT_WORDS(MEMTRACE_ADD)
#undef MEMTRACE_ADD
}

void pickle_file::pass_on() {
  if (bytes_.size() < portion) return;
  to_.write(bytes_);
  bytes_.clear();
}

void pickle_file::extend(pickle::memo list, std::string_view values) {
  get(bytes_, word::device_traces);
  pickle::get(bytes_, list);
  pickle::mark(bytes_);
  bytes_.append(values);
  pickle::appends(bytes_);
  pickle::set_item(bytes_);
  pass_on();
}

void pickle_file::end() {
  pickle::end(bytes_);
  to_.write(bytes_);
  bytes_.clear();
}

}  // namespace memtrace::exporting
