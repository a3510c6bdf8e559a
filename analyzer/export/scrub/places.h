// SPDX-License-Identifier: Apache-2.0
//
// Paths, of which only what a report needs stays: the file's name, and of an installed package the
// way to the file from where Python was installed.
//
//   /data/ada/x/src/train.py                               /code1/train.py
//   /data/ada/x/.venv/lib/python3.11/site-packages/t/n.py /env1/lib/python3.11/site-packages/t/n.py
//
// Different directories stay different ones, and in the same order.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace memtrace::scrub {

// A path cut in two: what is hidden, and what stays (from its '/' on, where it has one).
struct path_parts {
  std::string_view hidden;
  std::string_view kept;
  bool installed = false;  // belongs to Python or to a package
};
[[nodiscard]] path_parts parts_of(std::string_view path);

class places {
 public:
  void add(std::string_view path);
  // After the last one was added and before the first is replaced.
  void settle();
  // The stand-in for a path that was added.
  [[nodiscard]] std::string replaced(std::string_view path) const;
  [[nodiscard]] std::size_t count() const { return folders_.size() + installations_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> folders_;
  std::map<std::string, std::string, std::less<>> installations_;
};

}  // namespace memtrace::scrub
