// SPDX-License-Identifier: Apache-2.0
//
// Frames of machine code, which the recorder writes as a library's file and an address in it. They
// are shown as the source that they were compiled from, if the file is still there and tells it:
//
//   recorded:  app main+0x11f4
//   shown:     main.cpp:40 main ─► trainer.cpp:31 trainer::log_loss
//
// Of libraries, whose lines mean nothing to the person, only the function is told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/symbols/debug_symbols.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::trace {

class native_code {
 public:
  native_code(dictionary& names, std::shared_ptr<symbols::debug_symbols> symbols)
      : names_(names), symbols_(std::move(symbols)) {}

  // Info `library`.
  void learn(std::string_view text);
  // A stack record: nothing unless it is one of machine code, which is defined now as it is shown.
  [[nodiscard]] std::optional<dictionary::outcome> define(stack_id parent, frame_id innermost);

 private:
  [[nodiscard]] const std::vector<frame_id>& shown(frame_id recorded);
  [[nodiscard]] std::vector<frame_id> look_up(frame_id recorded);
  void add(std::vector<frame_id>& to, std::string_view file, std::string_view function,
           std::uint32_t line);

  dictionary& names_;
  std::shared_ptr<symbols::debug_symbols> symbols_;
  std::map<std::string, std::string, std::less<>> libraries_;       // identities by file
  std::unordered_map<std::uint32_t, std::vector<frame_id>> shown_;  // by frame; outermost first
  // The same line may be many addresses.
  std::map<std::tuple<std::string, std::string, std::uint32_t>, frame_id> frames_;
  std::map<std::pair<stack_id, frame_id>, stack_id> stacks_;
};

}  // namespace memtrace::trace
