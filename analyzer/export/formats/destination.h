// SPDX-License-Identifier: Apache-2.0
//
// Where an exporter writes to: a file of another name, which gets its own when it is whole.
#pragma once

#include <string>
#include <string_view>

namespace memtrace::exporting {

class destination {
 public:
  virtual ~destination() = default;
  // Appends. After a failure nothing is written any more; who made the destination says why.
  virtual void write(std::string_view bytes) = 0;
  [[nodiscard]] virtual bool failed() const = 0;
  // For a library that wants to open the file itself: it is there, and empty unless write() was
  // called. Of a format that is a folder: the folder.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

}  // namespace memtrace::exporting
