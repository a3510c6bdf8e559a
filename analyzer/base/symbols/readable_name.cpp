// SPDX-License-Identifier: Apache-2.0
//
// libstdc++'s own reader of such names, by the entry that hands its words on piece by piece: a name
// of 250 letters may stand for half a gigabyte of words.
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <string>

#include "analyzer/base/symbols/debug_symbols.h"

namespace __cxxabiv1 {
extern "C" int __gcclibcxx_demangle_callback(const char* name,
                                             void (*take)(const char*, std::size_t, void*),
                                             void* data);
}

namespace memtrace::symbols {

namespace {

constexpr std::size_t most_letters = 4096;

struct reading {
  std::jmp_buf enough;
  char words[most_letters];
  std::size_t length = 0;
};

void take(const char* words, std::size_t length, void* data) {
  auto& to = *static_cast<reading*>(data);
  // The reader keeps all it has on the stack, so that nothing is lost by leaving it.
  if (length > most_letters - to.length) std::longjmp(to.enough, 1);
  std::copy_n(words, length, to.words + to.length);
  to.length += length;
}

[[nodiscard]] bool read(const char* name, reading& to) {
  if (setjmp(to.enough) != 0) return false;
  return __cxxabiv1::__gcclibcxx_demangle_callback(name, &take, &to) == 0;
}

// Goes through "f<void (int)>(float) const", past what stands in brackets.
class name_reader {
 public:
  explicit name_reader(std::string_view name) : name_(name) {}

  // Where the function's own name begins, behind what it returns, and where its parameters do.
  [[nodiscard]] std::string_view own() {
    std::size_t begin = 0, at = 0;
    for (; at < name_.size(); ++at) {
      const auto rest = name_.substr(at);
      if (depth_ == 0 && rest.starts_with("operator")) {
        at += skip_operator(rest);
      } else if (rest.starts_with("(anonymous namespace)")) {
        at += std::string_view("(anonymous namespace)").size() - 1;
      } else if (depth_ == 0 && name_[at] == '(') {
        break;
      } else if (depth_ == 0 && name_[at] == ' ') {
        begin = at + 1;
      } else {
        count(name_[at]);
      }
    }
    return name_.substr(begin, at - begin);
  }

 private:
  void count(char letter) {
    if (letter == '<' || letter == '(' || letter == '{' || letter == '[') ++depth_;
    if ((letter == '>' || letter == ')' || letter == '}' || letter == ']') && depth_ > 0) --depth_;
  }

  // "operator()", "operator<<", "operator new[]", "operator unsigned int": to its last letter before
  // arguments of a template or parameters.
  [[nodiscard]] static std::size_t skip_operator(std::string_view rest) {
    constexpr std::size_t word = 8;
    if (rest.substr(word).starts_with("()")) return word + 1;
    auto end = word;
    while (end < rest.size() && rest[end] != '(' &&
           !(rest[end] == '<' && end > word && rest[end - 1] != '<' && rest[end - 1] != 'r')) {
      ++end;
    }
    return end - 1;
  }

  std::string_view name_;
  int depth_ = 0;
};

}  // namespace

std::string readable_name(std::string_view linkers_name) {
  std::string name(linkers_name);
  reading found;
  if (!name.starts_with("_Z") || !read(name.c_str(), found)) return name;
  const auto own = name_reader({found.words, found.length}).own();
  return own.empty() ? name : std::string(own);
}

}  // namespace memtrace::symbols
