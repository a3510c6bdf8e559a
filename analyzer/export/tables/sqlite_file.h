// SPDX-License-Identifier: Apache-2.0
//
// A database that is written once from its beginning to its end, in transactions of many rows. It
// has no journal: until finish() succeeds the file is of no use, and who made it removes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analyzer/export/tables/sink.h"

struct sqlite3;
struct sqlite3_stmt;

namespace memtrace::tables {

class sqlite_file {
 public:
  explicit sqlite_file(const std::string& path);
  sqlite_file(const sqlite_file&) = delete;
  sqlite_file& operator=(const sqlite_file&) = delete;
  ~sqlite_file();

  class statement {
   public:
    // Binds the values from `first` on, the leftmost parameter being 1.
    void bind(int first, std::span<const value> values);
    void bind(int parameter, const value& one);
    void step();  // of an INSERT

   private:
    friend class sqlite_file;
    statement(sqlite_file& of, sqlite3_stmt* made);
    struct finalize {
      void operator()(sqlite3_stmt* made) const;
    };
    sqlite_file* of_;
    std::unique_ptr<sqlite3_stmt, finalize> made_;
  };

  void run(const std::string& statements);
  [[nodiscard]] statement prepare(const std::string& text);
  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  // Commits and closes; the statements must be gone. Why the file is not whole, in one sentence.
  [[nodiscard]] std::optional<std::string> finish();

 private:
  void check(int outcome);  // keeps what went wrong first
  void stepped();

  sqlite3* open_ = nullptr;
  std::string failure_;
  std::uint64_t in_transaction_ = 0;  // rows
};

}  // namespace memtrace::tables
