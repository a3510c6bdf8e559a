// SPDX-License-Identifier: Apache-2.0
//
// Programs that leak although they have the words of those that do not: what the tests of them share.
#pragma once

#include <string>
#include <utility>

#include "analyzer/judge/program/prove.h"

namespace hostile {

using namespace memtrace::program;

[[nodiscard]] inline question about(std::string variable, std::string container = "list",
                                    std::string numbers = {}) {
  question made;
  made.variable = std::move(variable);
  made.container = std::move(container);
  made.numbers = std::move(numbers);
  made.holder = "Store";
  made.owner = "local of main";
  made.length = made.container.empty() ? 0 : 5;
  made.steps = 20;
  return made;
}

[[nodiscard]] inline answer asked(const std::string& text, const question& what) {
  const source_file file(text);
  return prove(file, "train.py", what);
}

}  // namespace hostile
