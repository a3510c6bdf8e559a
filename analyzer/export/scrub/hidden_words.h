// SPDX-License-Identifier: Apache-2.0
//
// Names of users and of machines, and what stands for them. The same name becomes the same word
// everywhere, so that ranks of one machine still are.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace memtrace::scrub {

class hidden_words {
 public:
  void add_user(std::string_view name);
  // Its first part, too: the name without the domain.
  void add_host(std::string_view name);
  // Whose directories the path names: those below /home and /Users, and torchinductor_NAME.
  void add_users_of(std::string_view path);

  // Numbers them in their own order: after the last name and before the first replacement.
  void settle();

  // With every such name that stands as a word of its own replaced.
  [[nodiscard]] std::string replaced(std::string_view text) const;

  [[nodiscard]] std::size_t count() const { return words_.size(); }

 private:
  enum class kind { user, host };
  void add(std::string_view name, kind what);

  std::map<std::string, kind, std::less<>> names_;
  // Longer ones first: a name may be the beginning of another.
  struct longer_first {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  std::map<std::string, std::string, longer_first> words_;
};

}  // namespace memtrace::scrub
