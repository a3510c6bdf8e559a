// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/unwritten.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace memtrace::program {

namespace {

// What is done with the attribute, variable or function of which the name is not known.
enum class done : std::uint8_t { read, called, given, anything };
// Whose it is.
enum class owned_by : std::uint8_t { object, function, module, anybody };

struct by_any_name {
  node at;
  done what = done::read;
  owned_by whom = owned_by::object;
  node object = {};  // of which the attribute is
};

// "limit" of 'limit'; empty: it is calculated.
[[nodiscard]] std::string_view written_word(const node& what) {
  const auto parts = what.children();
  const bool is_plain = what.is("string") && std::ranges::none_of(parts, [](const node& one) {
                          return one.is("interpolation");
                        });
  return is_plain && parts.size() == 3 ? parts[1].text() : std::string_view();
}

// What happens to a value that is read: getattr(self, name)(x), print(vars(self)).
[[nodiscard]] std::optional<done> what_happens_to(const source_file& file, const node& value) {
  constexpr std::array<std::string_view, 12> looking = {"print", "len",  "str",        "repr",
                                                        "bool",  "int",  "float",      "id",
                                                        "type",  "hash", "isinstance", "callable"};
  const auto user = value.parent();
  if (user.is("call") && user.field("function") == value) return done::called;
  if (user.is_any({"comparison_operator", "not_operator", "expression_statement"}))
    return std::nullopt;
  if (user.is("argument_list")) {
    const auto function = user.parent().field("function");
    const bool only_looks =
        file.is_of_python(function) && std::ranges::find(looking, function.text()) != looking.end();
    if (only_looks) return std::nullopt;
  }
  return done::read;
}

class finder {
 public:
  explicit finder(const source_file& file) : file_(file) {}

  [[nodiscard]] std::vector<by_any_name> all() {
    for (const auto* const name : {"exec", "eval"}) each_call(name, &finder::runs_text);
    for (const auto* const name : {"getattr", "delattr"}) each_call(name, &finder::reads);
    for (const auto* const name : {"setattr", "__setattr__", "__delattr__"})
      each_call(name, &finder::gives);
    for (const auto* const name : {"__getattribute__", "__getattr__"})
      each_call(name, &finder::reads);
    for (const auto* const name : {"attrgetter", "methodcaller"})
      each_call(name, &finder::of_anything);
    each_call("getmembers", &finder::all_of_object);
    for (const auto* const name : {"vars", "locals", "globals"})
      each_call(name, &finder::all_names);
    for (const auto& one : file_.named("__dict__")) {
      if (one.is("attribute")) names_of(one, owned_by::object, one.field("object"));
    }
    for (const auto& one : file_.named("modules")) {  // sys.modules[__name__]
      const bool is_it =
          one.is("attribute") && file_.package_of(one.field("object").text()) == "sys";
      const auto key = written_word(one.parent().field("subscript"));
      if (is_it && (key.empty() || key == "__main__"))
        made_.push_back({one, done::anything, owned_by::module});
    }
    for (const auto& one : file_.named("__main__")) {
      if (one.parent().is("attribute")) made_.push_back({one, done::anything, owned_by::module});
    }
    return std::move(made_);
  }

 private:
  using take = void (finder::*)(const node& call);

  void each_call(std::string_view name, take taken) {
    for (const auto& one : file_.named(name)) {
      const auto function = file_.function_of(one).field("name").text();
      // What a class does where its attributes are asked for: those are written down elsewhere.
      if (function.starts_with("__") && function.ends_with("attr__")) continue;
      if (one.is("identifier") && !file_.is_of_python(one) && !file_.is_library(name)) continue;
      if (one.is("attribute") && !is_of_library(one) && !name.starts_with("__")) continue;
      if (given_by(one)) continue;
      const auto call = one.parent();
      const bool is_called = call.is("call") && call.field("function") == one;
      if (is_called) {
        (this->*taken)(call);
      } else if (!call.is_any({"aliased_import", "dotted_name", "keyword_argument"})) {
        made_.push_back({one, done::anything, owned_by::anybody});  // map(exec, texts)
      }
    }
  }

  [[nodiscard]] bool is_of_library(const node& attribute) const {
    const auto object = attribute.field("object");
    return object.is("identifier") && file_.is_library(object.text());
  }

  void runs_text(const node& call) {
    // A text without a name in it can be read here, too.
    const auto text = call.field("arguments").child(0);
    const auto word = written_word(text);
    if (!word.empty() && word.find_first_not_of("0123456789.+-*/() ") == word.npos) return;
    made_.push_back({call, done::anything, owned_by::anybody});
  }

  // getattr(object, name); object.__getattribute__(name), object.__getattribute__(self, name)
  [[nodiscard]] std::pair<node, node> object_and_name(const node& call) const {
    const auto given = arguments_of(call);
    const auto function = call.field("function");
    if (function.is("attribute") && !is_of_library(function)) {
      const auto object = function.field("object");
      const bool of_class = object.is("identifier") && file_.is_of_python(object);
      if (!of_class) return {object, given.empty() ? node() : given[0]};
    }
    return {given.empty() ? node() : given[0], given.size() < 2 ? node() : given[1]};
  }

  void reads(const node& call) {
    const auto [object, name] = object_and_name(call);
    if (!written_word(name).empty()) return;
    if (const auto what = what_happens_to(file_, call))
      made_.push_back({call, *what, owned_by::object, object});
  }

  void gives(const node& call) {
    const auto [object, name] = object_and_name(call);
    if (written_word(name).empty()) made_.push_back({call, done::given, owned_by::object, object});
  }

  void of_anything(const node& call) {
    const auto given = arguments_of(call);
    const bool is_written = !given.empty() && std::ranges::all_of(given, [](const node& one) {
      const auto word = written_word(one);
      return !word.empty() && word.find('.') == word.npos;
    });
    if (!is_written) made_.push_back({call, done::anything, owned_by::object});
  }

  void all_of_object(const node& call) {
    made_.push_back({call, done::anything, owned_by::object, call.field("arguments").child(0)});
  }

  void all_names(const node& call) {
    const auto name = call.field("function").text();
    const auto object = call.field("arguments").child(0);
    if (name == "globals") return names_of(call, owned_by::module, {});
    if (object && name == "vars") return names_of(call, owned_by::object, object);
    names_of(call, file_.function_of(call) ? owned_by::function : owned_by::module, {});
  }

  // What is done with vars(self), self.__dict__, globals().
  void names_of(const node& all, owned_by whom, const node& object) {
    const auto user = all.parent();
    const auto add = [&](done what) { made_.push_back({all, what, whom, object}); };
    if (user.is("subscript") && user.field("value") == all) {
      if (!written_word(user.field("subscript")).empty()) return;
      const auto giver = user.parent();
      const bool gives =
          giver.is_any({"assignment", "augmented_assignment"}) && giver.field("left") == user;
      if (gives) return add(done::given);
      if (const auto what = what_happens_to(file_, user)) add(*what);
      return;
    }
    if (user.is("attribute") && user.parent().is("call")) {
      const auto method = user.field("attribute").text();
      if (method == "keys") return;
      const auto given = arguments_of(user.parent());
      const bool is_written =
          method != "update" && !given.empty() && !written_word(given.front()).empty();
      if (is_written) return;
      return add(method == "update" ? done::given : done::anything);
    }
    if (user.is_any({"comparison_operator", "for_statement", "for_in_clause", "interpolation"}))
      return;
    if (what_happens_to(file_, all)) add(done::anything);
  }

  const source_file& file_;
  std::vector<by_any_name> made_;
};

// Whether an expression is an object that the program has not made itself: a module, the result of a
// parser of arguments.
[[nodiscard]] bool is_of_library(const source_file& file, const node& what, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  if (depth > deepest) return false;
  if (what.is("attribute")) return is_of_library(file, what.field("object"), depth + 1);
  if (what.is("call")) {
    // It may give back what it was given, as copy() and load() do.
    const auto function = what.field("function");
    auto first = function;
    while (first.is("attribute")) first = first.field("object");
    const auto package = file.package_of(first.text());
    const bool makes_its_own = package == "argparse" || package == "json" || package == "logging";
    if (first.is("identifier") && makes_its_own) return true;
    return function.is("attribute") && is_of_library(file, function.field("object"), depth + 1);
  }
  if (!what.is("identifier")) return false;
  const auto owner = file.owner_of(what, what.text());
  if (source_file::has_parameter(owner, what.text())) return false;
  if (!owner && file.is_library(what.text())) return true;
  bool made = false;
  for (const auto& one : file.named(what.text())) {
    const auto giver = given_by(one);
    if (!giver || file.owner_of(one, one.text()) != owner) continue;
    if (!giver.is("assignment") || !is_of_library(file, giver.field("right"), depth + 1))
      return false;
    made = true;
  }
  return made;
}

// Whether an object may be one of this class; empty: of any class.
[[nodiscard]] bool may_be_of(const source_file& file, const node& object, std::string_view holder) {
  if (!object) return true;
  if (is_of_library(file, object)) return false;
  if (holder.empty()) return true;
  if (file.is_self(object))
    return file.are_related(file.class_of(object).field("name").text(), holder);
  if (object.is("identifier") && !file.classes(object.text()).empty())
    return file.are_related(object.text(), holder);
  // data = Data(): it has one value, of another class.
  if (!object.is("identifier")) return true;
  const auto owner = file.owner_of(object, object.text());
  if (source_file::has_parameter(owner, object.text())) return true;
  bool is_another = false;
  for (const auto& one : file.named(object.text())) {
    const auto giver = given_by(one);
    if (!giver || file.owner_of(one, one.text()) != owner) continue;
    const auto made = giver.is("assignment") ? giver.field("right").field("function") : node();
    const bool is_class = made.is("identifier") && file.classes(made.text()).size() == 1;
    if (!is_class || file.are_related(made.text(), holder)) return true;
    is_another = true;
  }
  return !is_another;
}

[[nodiscard]] bool may_be(const source_file& file, const by_any_name& one, const variable& which) {
  switch (which.kind) {
    case variable_kind::local:
      return (one.whom == owned_by::function || one.whom == owned_by::anybody) &&
             one.at.is_in(which.scope);
    case variable_kind::global:
      return one.whom == owned_by::module || one.whom == owned_by::anybody;
    case variable_kind::attribute:
      if (one.whom == owned_by::anybody) return true;
      return one.whom == owned_by::object && may_be_of(file, one.object, which.holder);
  }
  return true;
}

}  // namespace

node used_unwritten(const source_file& file, const variable& which) {
  for (const auto& one : finder(file).all()) {
    if (one.what != done::called && may_be(file, one, which)) return one.at;
  }
  return {};
}

bool is_given_unwritten(const source_file& file, const node& name) {
  variable which;
  if (name.is("attribute")) {
    const auto object = name.field("object");
    const std::string holder(file.is_self(object) ? file.class_of(name).field("name").text()
                                                  : std::string_view());
    which = {variable_kind::attribute, {}, std::string(name.field("attribute").text()), holder};
  } else {
    const auto owner = file.owner_of(name, name.text());
    which = {owner ? variable_kind::local : variable_kind::global, owner, std::string(name.text())};
  }
  return std::ranges::any_of(finder(file).all(), [&](const by_any_name& one) {
    if (one.what != done::given && one.what != done::anything) return false;
    // A constructor gives its own object the first values that it has.
    if (file.is_self(one.object) && source_file::is_constructor(file.function_of(one.at)))
      return false;
    return may_be(file, one, which);
  });
}

bool is_called_unwritten(const source_file& file, const node& function) {
  const auto holder = function.scope();
  const bool is_method = holder.is("class_definition");
  return std::ranges::any_of(finder(file).all(), [&](const by_any_name& one) {
    if (one.what == done::given) return false;
    if (one.whom == owned_by::anybody) return true;
    if (is_method)
      return one.whom == owned_by::object &&
             may_be_of(file, one.object, holder.field("name").text());
    return one.whom != owned_by::object;
  });
}

}  // namespace memtrace::program
