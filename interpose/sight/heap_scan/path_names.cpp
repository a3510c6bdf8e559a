// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/path_names.h"

#include <algorithm>

#include "interpose/sight/heap_scan/container_facts.h"
#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "interpose/sight/heap_scan/numbers.h"
#include "memtrace/trace_format.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::string_view any_item = "[…]";
// The keys of larger dictionaries name nothing that lasts.
constexpr std::int64_t most_keys = 64;
constexpr std::int64_t most_attributes = 2048;

bool is_hooks(std::string_view attribute) {
  return attribute.find("_hooks") != std::string_view::npos;
}

// Attributes of nn.Module.
bool is_parts(std::string_view attribute) {
  return attribute == "_modules" || attribute == "_parameters" || attribute == "_buffers";
}

// A key that is a word stays what it is; others (numbers, prompts, hashes) come and go.
bool is_stable(std::string_view key) {
  constexpr std::size_t longest = 40;
  return !key.empty() && key.size() <= longest &&
         key.find_first_of("0123456789 '\"\\\n\t/") == std::string_view::npos;
}

// Buffers of batch and instance normalisation.
bool is_statistic(std::string_view buffer) {
  return buffer.empty() || buffer == "running_mean" || buffer == "running_var" ||
         buffer == "num_batches_tracked";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_numbered(std::string_view text) {
  return !text.empty() && text.back() >= '0' && text.back() <= '9';
}

// The list that the iterators of itertools.tee share: items that one has seen and another has not.
bool is_tee(address object) {
  return name_of_type(type_of(object)) == "_tee_dataobject";
}

}  // namespace

place_number path_names::place_of(node which) {
  std::vector<node> way;
  node at = which;
  while (known_.find(at) == known_.end()) {
    if (search_.until().is_over()) return no_place;
    way.push_back(at);
    if (search_.objects().is_root(at)) break;
    at = search_.objects().parent(at);
  }
  while (!way.empty()) {
    if (search_.until().is_over()) return no_place;
    const node next = way.back();
    way.pop_back();
    const found_objects& objects = search_.objects();
    if (objects.is_root(next)) {
      known_[next] = name_root(next);
      continue;
    }
    const node parent = objects.parent(next);
    const address from = objects.object(parent), to = objects.object(next);
    const step edge{from, search_.kind_of(from), to, search_.kind_of(to)};
    known_[next] = name_child(known_[parent], edge, parent);
  }
  return known_[which].place;
}

place_number path_names::place_of_child(node parent, address object) {
  if (place_of(parent) == no_place) return no_place;
  const address from = search_.objects().object(parent);
  const step edge{from, search_.kind_of(from), object, search_.kind_of(object)};
  return name_child(known_[parent], edge, parent).place;
}

path_names::named path_names::name_root(node which) {
  const root& from = search_.roots()[search_.objects().root_of(which)];
  const address object = search_.objects().object(which);
  named result;
  switch (from.from) {
    case root::origin::local:
      result.place = places_.start(text_of(from.name), owner_in(from.owner, "local of "));
      places_[result.place].code = from.owner;
      break;
    case root::origin::globals:
      result.place = places_.start(text_of(from.name),
                                   {"global of " + text_of(from.owner), text_of(from.file), 0});
      break;
    case root::origin::exception:
      result.place =
          places_.start(name_of_type(type_of(object)),
                        {"traceback of " + std::string(name_of_type(type_of(object))), "", 0});
      places_[result.place].flags |= format::held_traceback;
      result.as = role::root_trace;
      break;
    case root::origin::nobody:
      result.place =
          places_.start(name_of_type(type_of(object)), {"nothing: a cycle or C++", "", 0});
      places_[result.place].flags |= format::held_unreachable;
      break;
    case root::origin::suspended:  // its variables begin paths of their own
      result.place = places_.start(name_of_type(type_of(object)), {"a statement that runs", "", 0});
      break;
    case root::origin::statement:
      result.place =
          places_.start(name_of_type(type_of(object)), {"a statement that runs, or C++", "", 0});
      places_[result.place].flags |= format::held_statement;
      break;
    case root::origin::context:
      result.place = places_.start("ContextVar", {"context of a thread", "", 0});
      break;
  }
  return result;
}

path_names::named path_names::name_child(const named& parent, const step& edge, node parent_node) {
  if (edge.child_kind == kind::type && edge.parent_kind != kind::type) {
    return class_itself(parent, edge.child);
  }
  switch (parent.as) {
    case role::attributes:
      return from_attributes(parent, edge, key_of(edge.parent, edge.child, most_attributes));
    case role::parts:
    case role::buffers:
      return from_parts(parent, edge);
    case role::closure:
    case role::defaults:
      return from_closure(parent, edge,
                          search_.objects().object(search_.objects().parent(parent_node)));
    case role::entries:
      return {parent.place, no_place,
              edge.child_kind == kind::plain ? role::entries : role::itself};
    case role::trace:
    case role::root_trace:
      return from_exception(parent, edge);
    case role::itself:
      break;
  }
  if (edge.child_kind == kind::dict && instance_dict(python_, edge.parent) == edge.child) {
    const bool is_class = edge.parent_kind == kind::type;
    const address owner = is_class ? edge.parent : type_of(edge.parent);
    return {parent.place, parent.model, role::attributes, owner};
  }
  switch (edge.parent_kind) {
    case kind::function:
      return from_function(parent, edge);
    case kind::generator:
    case kind::frame:
      return from_frame(parent, edge);
    case kind::exception:
      return from_exception(parent, edge);
    case kind::dict:
    case kind::list:
    case kind::tuple:
    case kind::set:
    case kind::deque:
      return from_container(parent, edge);
    case kind::lru_cache:
      return from_lru_cache(parent, edge);
    case kind::cell:
      return {parent.place, parent.model, role::itself};
    default:
      return from_plain(parent, edge);
  }
}

path_names::named path_names::attribute(const named& parent, std::string_view name, address type) {
  const place_number next = places_.add(parent.place, "." + std::string(name));
  places_[next].attribute_of = places_[next].class_of_last = name_of_type(type);
  if (is_hooks(name)) places_[next].flags |= format::held_hook;
  return {next, no_place, role::itself};
}

path_names::named path_names::from_attributes(const named& parent, const step& edge,
                                              std::string_view key) {
  if (is_parts(key) && edge.child_kind == kind::dict) {
    const place_number model = parent.model == no_place ? parent.place : parent.model;
    const address type = parent.type != 0 ? parent.type : type_of(edge.parent);
    return {parent.place, model, key == "_buffers" ? role::buffers : role::parts, type};
  }
  if (key.empty()) return {places_.add(parent.place, any_item), no_place, role::itself};
  const named result =
      attribute(parent, key, parent.type != 0 ? parent.type : type_of(edge.parent));
  places_[result.place].attributes = edge.parent;
  return result;
}

// Parameters and what a normalisation counts are the model's: there are many, and they do not
// accumulate one by one. Those with numbers for names may: mean_0, mean_1, …; the items of a
// ParameterList. Other buffers have what the program writes into them: a queue, a memory.
path_names::named path_names::from_parts(const named& parent, const step& edge) {
  if (edge.child_kind == kind::tensor) {
    const std::string name = key_of(edge.parent, edge.child, most_attributes);
    const bool is_buffer = parent.as == role::buffers;
    if (is_buffer ? !is_numbered(name) : !is_number(name)) {
      if (is_buffer && !is_statistic(name)) {
        return {part_of_module(parent, "." + name), no_place, role::itself};
      }
      return {parent.model, no_place, role::itself};
    }
    const place_number list = is_buffer ? part_of_module(parent, "._buffers") : parent.place;
    const place_number next = places_.add(list, any_item);
    if (is_buffer) {
      const container_facts facts = facts_of(python_, edge.parent, edge.parent_kind);
      note(next, parent.place, facts);
    }
    return {next, no_place, role::itself};
  }
  const std::string key = key_of(edge.parent, edge.child, most_attributes);
  const bool is_item = key.empty() || is_number(key);
  return {is_item ? places_.add(parent.place, any_item) : part_of_module(parent, "." + key),
          parent.model, role::itself};
}

place_number path_names::part_of_module(const named& module, const std::string& component) {
  const place_number next = places_.add(module.place, component);
  places_[next].class_of_last = name_of_type(module.type);
  return next;
}

path_names::named path_names::class_itself(const named& parent, address type) {
  const std::string name(name_of_type(type));
  return {places_.start(name, {"class " + name, "", 0}, parent.place), no_place, role::itself};
}

path_names::named path_names::from_function(const named& parent, const step& edge) {
  const py function = object_at(edge.parent);
  role as = role::itself;
  if (edge.child == address_of(python_.get_closure_of_function(function))) as = role::closure;
  if (edge.child == address_of(python_.get_defaults_of_function(function)) ||
      edge.child == address_of(python_.get_keyword_defaults_of_function(function))) {
    as = role::defaults;
  }
  return {parent.place, no_place, as};
}

path_names::named path_names::from_closure(const named& parent, const step& edge,
                                           address function) {
  const address code = address_of(python_.get_code_of_function(object_at(function)));
  const bool is_closure = parent.as == role::closure;
  address variable = 0;
  if (edge.parent_kind == kind::tuple) {
    const auto number = number_of_item(python_, edge.parent, edge.child);
    variable = is_closure ? free_variable(python_, code, number)
                          : argument_with_default(python_, code, edge.parent, number);
  }
  const std::string name =
      variable == 0 ? key_of(edge.parent, edge.child, most_keys) : text_of(variable);
  // Where functions are gathered it is what gathers them that keeps it.
  const place& outer = places_[parent.place];
  const bool is_hook = (outer.flags & format::held_hook) != 0;
  if (is_closure && !is_hook && outer.last == any_item) {
    return {places_.add(parent.place, "." + name), no_place, role::itself};
  }
  const place_owner owner = owner_in(code, is_closure ? "closure of " : "default of ");
  return {places_.start(name, owner, parent.place), no_place, role::itself};
}

path_names::named path_names::from_frame(const named& parent, const step& edge) {
  const read_frame frame = edge.parent_kind == kind::frame
                               ? frame_of_object(python_, edge.parent)
                               : frame_of_generator(python_, edge.parent);
  const std::string name = variable_of(frame, edge.child);
  if (name.empty()) return {parent.place, no_place, role::itself};
  return {places_.start(name, owner_in(frame.code, "local of "), parent.place), no_place,
          role::itself};
}

path_names::named path_names::from_exception(const named& parent, const step& edge) {
  const bool is_root = parent.as == role::root_trace;
  const role as = is_root ? role::root_trace : role::trace;
  switch (edge.child_kind) {
    case kind::traceback:
      if (parent.as == role::itself) {
        named result{places_.add(parent.place, ".__traceback__"), no_place, as};
        places_[result.place].flags |= format::held_traceback;
        return result;
      }
      return {parent.place, no_place, as};
    case kind::exception:
    case kind::frame:
      return {parent.place, no_place, parent.as};
    default:
      break;
  }
  if (edge.parent_kind == kind::frame && is_root) {
    const read_frame frame = frame_of_object(python_, edge.parent);
    place_owner owner = owner_in(frame.code, "");
    owner.what = places_[parent.place].owner.what;
    return {places_.start(variable_of(frame, edge.child), owner, parent.place), no_place,
            role::itself};
  }
  if (edge.parent_kind == kind::exception && edge.child_kind == kind::tuple) {
    return attribute(parent, "args", type_of(edge.parent));
  }
  if (instance_dict(python_, edge.parent) == edge.child) {
    return {parent.place, no_place, role::attributes, type_of(edge.parent)};
  }
  return {parent.place, no_place, role::itself};
}

void path_names::note(place_number item, place_number container, const container_facts& facts) {
  places_.note_container(item, {facts.type, facts.length}, facts.is_bounded);
  places_.note_level(item, container, {facts.length, facts.most, facts.keys});
}

path_names::named path_names::from_container(const named& parent, const step& edge) {
  std::string component(any_item);
  if (edge.parent_kind == kind::dict) {
    const std::string key = key_of(edge.parent, edge.child, most_keys);
    if (is_stable(key)) component = "['" + key + "']";
  }
  const place_number next = places_.add(parent.place, component);
  const container_facts facts = facts_of(python_, edge.parent, edge.parent_kind);
  note(next, parent.place, facts);
  named result{next, no_place, role::itself};
  if (next == parent.place) result.nested = parent.nested + 1;
  // With so many in one another nobody knows how long they are.
  if (result.nested > 1) places_[next].repeats = true;
  return result;
}

path_names::named path_names::from_lru_cache(const named& parent, const step& edge) {
  if (edge.child_kind == kind::function) return {parent.place, no_place, role::itself};
  const place_number next = places_.add(parent.place, any_item);
  const container_facts facts = facts_of(python_, edge.parent, edge.parent_kind);
  note(next, parent.place, facts);
  return {next, no_place, role::entries};
}

path_names::named path_names::from_plain(const named& parent, const step& edge) {
  if (edge.parent_kind == kind::tensor && edge.child_kind == kind::graph_node) {
    const named result = attribute(parent, "grad_fn", type_of(edge.parent));
    places_[result.place].flags |= format::held_graph;
    return result;
  }
  if (is_tee(edge.parent)) {
    if (is_tee(edge.child)) return parent;
    constexpr std::size_t items_seen = 24;  // numread, after the object's head and its iterator
    const int seen = load<int>(edge.parent, items_seen);
    const place_number next = places_.add(parent.place, any_item);
    note(next, parent.place, {"tee", static_cast<std::uint64_t>(std::max(seen, 0))});
    return {next, no_place, role::itself};
  }
  std::string name;
  for_each_inline_value(python_, edge.parent, [&](address key, address value) {
    if (value == edge.child) name = text_of(key);
    return name.empty();
  });
  // From 3.13 on values may stand beside the object although it has a dictionary.
  const address dict = instance_dict(python_, edge.parent);
  if (name.empty() && dict != 0) name = key_of(dict, edge.child, most_attributes);
  if (!name.empty()) return from_attributes(parent, edge, name);
  name = member_holding(edge.parent, edge.child);
  if (!name.empty()) return attribute(parent, name, type_of(edge.parent));
  if (edge.parent_kind == kind::tensor && edge.child_kind == kind::dict) {
    return attribute(parent, "_backward_hooks", type_of(edge.parent));
  }
  return {parent.place, parent.model, role::itself};
}

std::string path_names::detail(place_number which) {
  const auto [known, is_new] = details_.try_emplace(which);
  if (!is_new) return known->second;
  constexpr std::int64_t least = 2;
  const place& here = places_[which];
  std::string numbers;
  number_notes notes(python_, numbers,
                     std::max(least, static_cast<std::int64_t>(here.container.length)));
  // The objects whose attributes are on the path, the last one first.
  address noted = 0;
  for (place_number at = which; at != no_place; at = places_[at].parent) {
    const address attributes = places_[at].attributes;
    if (attributes == 0 || attributes == noted) continue;
    noted = attributes;
    const bool is_dict = has_flag(attributes, type_flag::dict);
    is_dict ? notes.of_dictionary(attributes) : notes.of_attributes(attributes);
  }
  for (const read_frame& frame : running_) {
    if (here.code == 0 || frame.code != here.code) continue;
    notes.of_frame(frame);
    break;
  }
  notes.of_dictionary(constants_);
  return known->second = places_.detail(which, numbers);
}

std::string path_names::text_of(address text) {
  arena_.clear();
  if (text == 0 || !has_flag(text, type_flag::text)) return {};
  return std::string(python_stack::read_text(*python_.interpreter->offsets, text, arena_));
}

std::string path_names::key_of(address dict, address value, std::int64_t most) {
  if (!has_flag(dict, type_flag::dict)) return {};
  if (load<std::int64_t>(dict, offset::item_count) > most) return {};
  std::string found;
  for_each_pair(python_, dict, [&](address key, address each) {
    if (each == value) found = text_of(key);
    return each != value;
  });
  return found;
}

std::string path_names::variable_of(const read_frame& frame, address value) {
  std::string found;
  for_each_variable(python_, frame, [&](address name, address each) {
    if (each == value) found = text_of(name);
    return each != value;
  });
  return found;
}

place_owner path_names::owner_in(address code, std::string_view relation) {
  const python_stack::layout& offsets = *python_.interpreter->offsets;
  const auto line = load<std::int32_t>(code, offsets.code_first_line);
  return {std::string(relation) + text_of(load<address>(code, offsets.code_name)),
          text_of(load<address>(code, offsets.code_file)),
          line > 0 ? static_cast<std::uint32_t>(line) : 0};
}

}  // namespace memtrace::heap_scan
