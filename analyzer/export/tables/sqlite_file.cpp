// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/sqlite_file.h"

#include <fmt/core.h>
#include <sqlite3.h>

namespace memtrace::tables {

namespace {

constexpr std::uint64_t rows_in_a_transaction = 100'000;

// Nobody else has the file, and it is thrown away if this does not end well.
constexpr const char* once_and_alone =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
    "PRAGMA page_size = 8192; PRAGMA cache_size = -65536; BEGIN";

}  // namespace

sqlite_file::sqlite_file(const std::string& path) {
  check(sqlite3_open_v2(path.c_str(), &open_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr));
  run(once_and_alone);
}

sqlite_file::~sqlite_file() {
  if (open_ != nullptr) sqlite3_close_v2(open_);
}

void sqlite_file::check(int outcome) {
  if (outcome == SQLITE_OK || outcome == SQLITE_DONE || outcome == SQLITE_ROW || failed()) return;
  if (outcome == SQLITE_FULL) {
    failure_ = "the disk is full; free some space, or name a file on another disk";
  } else {
    failure_ = fmt::format("SQLite says: {}; name a file on another disk",
                           open_ == nullptr ? sqlite3_errstr(outcome) : sqlite3_errmsg(open_));
  }
}

void sqlite_file::run(const std::string& statements) {
  if (!failed()) check(sqlite3_exec(open_, statements.c_str(), nullptr, nullptr, nullptr));
}

sqlite_file::statement sqlite_file::prepare(const std::string& text) {
  sqlite3_stmt* made = nullptr;
  if (!failed()) {
    check(sqlite3_prepare_v3(open_, text.c_str(), static_cast<int>(text.size()),
                             SQLITE_PREPARE_PERSISTENT, &made, nullptr));
  }
  return {*this, made};
}

void sqlite_file::stepped() {
  if (++in_transaction_ < rows_in_a_transaction) return;
  in_transaction_ = 0;
  run("COMMIT; BEGIN");
}

std::optional<std::string> sqlite_file::finish() {
  run("COMMIT");
  if (open_ != nullptr) check(sqlite3_close(open_));
  open_ = nullptr;
  return failed() ? std::optional(failure_) : std::nullopt;
}

sqlite_file::statement::statement(sqlite_file& of, sqlite3_stmt* made) : of_(&of), made_(made) {}

void sqlite_file::statement::finalize::operator()(sqlite3_stmt* made) const {
  sqlite3_finalize(made);
}

void sqlite_file::statement::bind(int parameter, const value& one) {
  if (of_->failed()) return;
  auto* const to = made_.get();
  if (const auto* const number = std::get_if<std::int64_t>(&one)) {
    of_->check(sqlite3_bind_int64(to, parameter, *number));
  } else if (const auto* const real = std::get_if<double>(&one)) {
    of_->check(sqlite3_bind_double(to, parameter, *real));
  } else if (const auto* const text = std::get_if<std::string_view>(&one)) {
    const char* const content = text->data() == nullptr ? "" : text->data();  // null would be NULL
    // Valid until step(): no copy.
    of_->check(
        sqlite3_bind_text(to, parameter, content, static_cast<int>(text->size()), SQLITE_STATIC));
  } else {
    of_->check(sqlite3_bind_null(to, parameter));
  }
}

void sqlite_file::statement::bind(int first, std::span<const value> values) {
  for (const auto& one : values) bind(first++, one);
}

void sqlite_file::statement::step() {
  if (of_->failed()) return;
  of_->check(sqlite3_step(made_.get()));
  of_->check(sqlite3_reset(made_.get()));
  of_->stepped();
}

}  // namespace memtrace::tables
