// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/user_code.h"

namespace memtrace::census {

user_code::user_code(const python_objects& python, address modules) {
  const address os = value_of_key(python, modules, "os");
  if (!is_module(python, os)) return;  // whatever the program put there: asking it would raise
  const py dict = python.get_dict_of_module(object_at(os));
  if (dict == nullptr) return;
  const std::string_view file =
      plain_text(python, value_of_key(python, address_of(dict), "__file__"));
  standard_library_ = file.substr(0, file.rfind('/') + 1);
}

bool user_code::is_users(std::string_view file) const noexcept {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/"}) {
    if (file.find(part) != std::string_view::npos) return false;
  }
  if (file.empty() || file.starts_with("<frozen ") || file.starts_with("<memtrace: ")) return false;
  return standard_library_.empty() || !file.starts_with(standard_library_);
}

}  // namespace memtrace::census
