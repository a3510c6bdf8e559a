// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/observers.h"

#include <string>

#include "tests/unit/catch.h"

using namespace memtrace::trace;

namespace {

// Writes down what it sees, into one text with the others.
class noting final : public record_visitor {
 public:
  noting(char name, std::string& seen) : name_(name), seen_(seen) {}
  void on_info(std::string_view key, std::string_view value) override {
    note(std::string(key) + "=" + std::string(value));
  }
  void on_thread(thread_id thread) override { note("thread" + std::to_string(thread.value)); }
  void on_allocator(const event& head, const allocator_event& record) override {
    note(std::to_string(head.number) + ":" + std::to_string(record.size));
  }
  void on_object(object_id object, std::uint64_t address) override {
    note(std::to_string(object.value) + "@" + std::to_string(address));
  }

 private:
  void note(const std::string& what) { seen_ += name_ + what + ' '; }

  char name_;
  std::string& seen_;
};

class only_reports final : public record_visitor {
 public:
  void on_report(const report_event& report) override { sum += report.reserved; }
  std::uint64_t sum = 0;
};

}  // namespace

TEST_CASE("GIVEN observers in a list WHEN records come THEN each sees them, in the list's order") {
  std::string seen;
  noting first('a', seen), second('b', seen), third('c', seen);
  only_reports reports;
  observers two(first, reports);
  observers all(two, second, third);
  record_visitor& visitor = all;
  event head;
  head.number = 7;
  allocator_event record;
  record.size = 512;
  visitor.on_allocator(head, record);
  CHECK(seen == "a7:512 b7:512 c7:512 ");
  seen.clear();
  visitor.on_info("k", "v");
  visitor.on_thread(thread_id{3});
  visitor.on_object(object_id{2}, 9);
  CHECK(seen == "ak=v bk=v ck=v athread3 bthread3 cthread3 a2@9 b2@9 c2@9 ");
  visitor.on_report({0, 0, 0, 0, 40});
  visitor.on_report({0, 0, 0, 0, 2});
  CHECK(reports.sum == 42);
}
