// SPDX-License-Identifier: Apache-2.0
#include "analyzer/scrub/text_roles.h"

#include "memtrace/host_samples.h"

namespace memtrace::scrub {

trace::status text_roles::read(trace::reader& from, disguise& learning) {
  names_ = &from.names();
  learning_ = &learning;
  const auto facts = from.read(*this);
  if (facts.damage) return facts.damage;
  add_frames();
  for (std::uint32_t text = 1; names_->knows_text(text); ++text) {
    learning.learn((*names_)[trace::text_id{text}], of(text));
  }
  names_ = nullptr;
  learning_ = nullptr;
  return std::nullopt;
}

void text_roles::add(trace::text_id text, unsigned role) {
  if (!text) return;
  if (roles_.size() <= text.value) roles_.resize(text.value + std::size_t{1});
  roles_[text.value] = static_cast<std::uint8_t>(roles_[text.value] | role);
}

void text_roles::add_frames() {
  for (std::uint32_t number = 1; number <= names_->stacks(); ++number) {
    const auto frame = (*names_)[(*names_)[trace::stack_id{number}].innermost];
    add(frame.file, role::file);
    // By the names of these functions a report knows what happens.
    if (parts_of((*names_)[frame.file]).installed) add(frame.function, role::known);
  }
}

void text_roles::on_info(std::string_view key, std::string_view value) {
  learning_->learn_info(key, value);
}

void text_roles::on_device(const trace::device_facts& facts) {
  add(facts.name, role::known);
}

void text_roles::on_storage(const trace::event& /*next*/, const trace::storage_event& record) {
  if (record.role == format::storage_role::held) add(record.detail, role::held_detail);
}

void text_roles::on_cuda_call(const trace::event& /*head*/, const trace::cuda_call_event& record) {
  add(record.api, role::known);
}

void text_roles::on_cuda_undo(const trace::event& /*head*/, const trace::cuda_undo_event& record) {
  add(record.api, role::known);
}

void text_roles::on_counter(const trace::event& /*head*/, const trace::counter_event& record) {
  if ((*names_)[record.name].starts_with(format::host::prefix)) add(record.name, role::known);
}

void text_roles::on_operation(const trace::event& /*head*/, const trace::operation_event& record) {
  learning_->learn(record.text, 0);
}

void text_roles::on_message(const trace::event& /*head*/, const trace::message_event& record) {
  learning_->learn(record.text, 0);
}

}  // namespace memtrace::scrub
