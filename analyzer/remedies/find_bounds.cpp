// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/find_bounds.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzer/code/frames.h"
#include "analyzer/code/source_file.h"
#include "analyzer/verdicts/keeper_words.h"
#include "analyzer/verdicts/shown_bound.h"

namespace memtrace::remedies {

namespace {

// The sources of a program, each read once.
class sources {
 public:
  [[nodiscard]] const std::vector<std::string>& of(const std::string& file) {
    const auto [known, is_new] = lines_.try_emplace(file);
    if (is_new) known->second = code::lines_of_file(file);
    return known->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

// Looks for lines that bound what keeps a leak: in the file of who has the variable, then in those
// of the user's code that allocated.
class bounds {
 public:
  explicit bounds(const trace::dictionary& names) : names_(names) {}

  void find_own(verdicts::culprit& who) {
    for_each_keeper(who, [&](verdicts::retainer& keeper, const std::vector<std::string>& files) {
      const auto variable = verdicts::variable_of(keeper);
      for (const auto& file : files) {
        keeper.bound = verdicts::bound_in(sources_.of(file),
                                          {variable, keeper.length, keeper.blocks, keeper.numbers});
        if (!keeper.bound) continue;
        keeper.bound->file = file;
        by_object_.try_emplace(object_of(variable), *keeper.bound);
        return;
      }
    });
  }

  // What one object keeps in several attributes (pictures and their labels) is full at once.
  void take_from_siblings(verdicts::culprit& who) {
    for_each_keeper(who, [&](verdicts::retainer& keeper, const std::vector<std::string>&) {
      const auto object = object_of(verdicts::variable_of(keeper));
      const auto found = by_object_.find(object);
      if (keeper.bound || object.empty() || found == by_object_.end()) return;
      if (found->second.limit > keeper.length) keeper.bound = found->second;
    });
  }

 private:
  // "pool" of "pool.pictures"; empty of a variable.
  [[nodiscard]] static std::string object_of(const std::string& variable) {
    const auto dot = variable.rfind('.');
    return dot == std::string::npos ? std::string() : variable.substr(0, dot);
  }

  template <class Change>
  void for_each_keeper(verdicts::culprit& who, Change change) const {
    if (!growth::is_leak(who.found.shape)) return;
    std::vector<std::string> where;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && std::ranges::find(where, frame.file) == where.end()) {
        where.push_back(frame.file);
      }
    }
    for (auto& keeper : who.retained_by) {
      if ((keeper.flags & (format::held_bounded | format::held_unreachable)) != 0) continue;
      auto files = where;
      if (code::is_user_code(keeper.file)) files.insert(files.begin(), keeper.file);
      change(keeper, files);
    }
  }

  const trace::dictionary& names_;
  sources sources_;
  std::map<std::string, verdicts::shown_bound> by_object_;
};

}  // namespace

void find_bounds(verdicts::findings& found, const trace::dictionary& names) {
  bounds shown(names);
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) shown.find_own(who);
  }
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) shown.take_from_siblings(who);
  }
}

}  // namespace memtrace::remedies
