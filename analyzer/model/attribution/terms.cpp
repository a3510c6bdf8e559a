// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/terms.h"

#include <algorithm>

namespace memtrace::attribution {

std::string words_of(category what) {
  std::string out(name_of(what));
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string words_of(phase which) {
  switch (which) {
    case phase::forward:
      return "the forward pass";
    case phase::backward:
      return "the backward pass";
    case phase::optimizer:
      return "the optimizer";
    case phase::zero_grad:
      return "zero_grad";
    case phase::evaluation:
      return "evaluation";
    case phase::data_loading:
      return "data loading";
    case phase::setup:
      return "setup";
    case phase::other:
      break;
  }
  return {};
}

std::string short_words_of(phase which) {
  if (which == phase::other) return "between them";
  std::string name(name_of(which));
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::optional<category> category_named(std::string_view name) {
  for (std::size_t i = 0; i < category_count; ++i) {
    if (name_of(static_cast<category>(i)) == name) return static_cast<category>(i);
  }
  return std::nullopt;
}

}  // namespace memtrace::attribution
