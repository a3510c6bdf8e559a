// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/text_roles.h"

#include "memtrace/host_samples.h"

namespace memtrace::scrub {

// The uses of texts, from the fields of a record (memtrace/records.h).
class text_roles::fields {
 public:
  using name = std::string_view;

  explicit fields(text_roles& roles) : roles_(roles) {}

  [[nodiscard]] static bool has(unsigned /*flag*/) { return true; }

  void text(name, record::text_privacy use, trace::text_id text) {
    switch (use) {
      case record::text_privacy::words:
        break;
      case record::text_privacy::known:
        roles_.add(text, role::known);
        break;
      case record::text_privacy::path:
        roles_.add(text, role::file);
        break;
      case record::text_privacy::function:  // add_frames()
        break;
      case record::text_privacy::counter:
        if ((*roles_.names_)[text].starts_with(format::host::prefix)) roles_.add(text, role::known);
        break;
      case record::text_privacy::held_detail:
        roles_.add(text, role::held_detail);
        break;
    }
  }
  void string(name, record::string_privacy, std::string_view text) {
    roles_.learning_->learn(text, 0);
  }
  void number(name, record::kept_number, const auto&) {}
  void signed_number(name, record::kept_number, std::int64_t) {}
  void address(name, record::kept_number, std::uint64_t) {}
  void near_address(name, record::kept_number, std::uint64_t) {}
  void pool(name, record::kept_number, trace::pool_id) {}
  void flag(name, unsigned, bool) {}
  void id(name, record::kept_number, const auto&) {}

 private:
  text_roles& roles_;
};

trace::status text_roles::read(trace::reader& from, disguise& learning) {
  names_ = &from.names();
  learning_ = &learning;
  from.read_as_recorded();
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
  fields each(*this);
  facts.fields(each, facts);
}

// Of the text nothing is left, so there is nothing to learn from it.
void text_roles::on_source(const trace::source_part& part) {
  add(part.file, role::file);
}

void text_roles::on_expectation(const trace::expected_growth& said) {
  fields each(*this);
  said.fields(each, said);
}

#define MEMTRACE_ROLES(handler, name, type)                                           \
  void text_roles::handler(const trace::event& /*head*/, const trace::type& record) { \
    fields each(*this);                                                               \
    record.fields(each, record);                                                      \
  }
MEMTRACE_EVENT_HANDLERS(MEMTRACE_ROLES)
#undef MEMTRACE_ROLES

}  // namespace memtrace::scrub
