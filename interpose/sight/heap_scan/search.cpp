// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/search.h"

#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "memtrace/trace_format.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::uint32_t excluded_root = (1u << 31) - 2;

using traverse_function = int (*)(py object, int (*visit)(py, void*), void* argument);

// A result that is not 0 ends the object's traversal.
int pass_on(py object, void* visitor) {
  return static_cast<reference_visitor*>(visitor)->visit(address_of(object)) ? 0 : 1;
}

bool visit_if_any(address object, reference_visitor& visitor) noexcept {
  return object == 0 || visitor.visit(object);
}

// An object that the collector does not track is either not finished yet or holds nothing.
void traverse(const python_objects& python, address object, reference_visitor& visitor) noexcept {
  if (python.get_is_tracked(object_at(object)) == 0) return;
  const auto function = load<traverse_function>(type_of(object), offset::traverse);
  if (function != nullptr) function(object_at(object), &pass_on, &visitor);
}

void visit_pairs(const python_objects& python, address dict, reference_visitor& visitor) noexcept {
  for_each_pair(python, dict, [&](address key, address value) {
    return visitor.visit(value) && visitor.visit_key(key);
  });
}

void visit_attributes(const python_objects& python, address object,
                      reference_visitor& visitor) noexcept {
  if (!visit_if_any(instance_dict(python, object), visitor)) return;
  for_each_inline_value(python, object,
                        [&](address, address value) { return visitor.visit(value); });
}

void visit_variables(const python_objects& python, const read_frame& from,
                     reference_visitor& visitor) noexcept {
  for_each_variable(python, from, [&](address, address value) { return visitor.visit(value); });
}

void visit_function(const python_objects& python, address function,
                    reference_visitor& visitor) noexcept {
  const py object = object_at(function);
  for (const py part :
       {python.get_closure_of_function(object), python.get_defaults_of_function(object),
        python.get_keyword_defaults_of_function(object)}) {
    if (!visit_if_any(address_of(part), visitor)) return;
  }
  static_cast<void>(visit_if_any(instance_dict(python, function), visitor));
}

void visit_references(const python_objects& python, address object, kind what,
                      reference_visitor& visitor) noexcept {
  switch (what) {
    case kind::unknown:
    case kind::nothing:
    case kind::module:
      return;
    case kind::dict:
      visit_pairs(python, object, visitor);
      if (type_of(object) != python.dict) visit_attributes(python, object, visitor);
      return;
    case kind::function:
      return visit_function(python, object, visitor);
    case kind::frame:
      return visit_variables(python, frame_of_object(python, object), visitor);
    case kind::tensor:
      // Its own traversal leaves everything out while C++ holds the tensor too.
      visit_attributes(python, object, visitor);
      return traverse(python, object, visitor);
    default:
      return traverse(python, object, visitor);
  }
}

// Objects that none of those visited refers to.
class unreferred_objects final : public reference_visitor {
 public:
  bool visit(address object) noexcept override {
    all.erase(object);
    return true;
  }
  bool visit_key(address object) noexcept override { return visit(object); }

  // Erasing asks for no memory: nothing is thrown inside tp_traverse.
  std::unordered_set<address> all;
};

struct reached_object {
  address object;
  int depth;
};

// What is reached from an object, level by level.
class reached_objects final : public reference_visitor {
 public:
  explicit reached_objects(std::size_t most) noexcept : all(most) {}
  bool visit(address object) noexcept override { return all.push({object, depth}); }
  bool visit_key(address) noexcept override { return true; }

  mapped_array<reached_object> all;  // filled inside tp_traverse: nothing may be thrown
  int depth = 0;                     // of what is visited
};

// SGD's, as each of its param_groups has it.
[[nodiscard]] bool names_momentum(const python_objects& python, address group) noexcept {
  constexpr std::size_t place_of_double = 16;  // in a float
  const address value = value_of_key(python, group, "momentum");
  return value != 0 && name_of_type(type_of(value)) == "float" &&
         load<double>(value, place_of_double) != 0;
}

}  // namespace

search::search(const python_objects& python, const storage_reader& reader,
               std::uint64_t most_objects, deadline& until) noexcept
    : python_(python),
      reader_(reader),
      until_(until),
      most_objects_(most_objects),
      kinds_(python, reader),
      objects_(most_objects, until),
      postponed_(most_objects),
      met_again_(most_objects),
      graphs_(most_objects) {}

void search::exclude(address modules) {
  const auto leave_out = [&](address object) {
    static_cast<void>(objects_.add(object, found_objects::root(excluded_root)));
  };
  leave_out(modules);
  for_each_pair(python_, modules, [&](address, address module) {
    leave_out(module);
    if (kinds_.of(module) == kind::module) {
      leave_out(address_of(python_.get_dict_of_module(object_at(module))));
    }
    return true;
  });
  next_ = objects_.size();
}

void search::exclude_running(const std::vector<read_frame>& frames) {
  for (const read_frame& each : frames) running_.insert(each.frame);
}

void search::add_root(const root& named) {
  const kind what = kinds_.of(named.object);
  if (what == kind::nothing) return;
  const auto parent = found_objects::root(static_cast<std::uint32_t>(roots_.size()));
  const bool is_new = what == kind::optimizer ? postponed_.push({named.object, parent})
                                              : objects_.add(named.object, parent) != no_node;
  if (is_new) roots_.push_back(named);
}

// Its names are the roots: the dictionary itself is excluded, as all modules' are.
void search::add_globals(const root& module) {
  for_each_pair(python_, module.object, [&](address name, address value) {
    add_root({module.from, value, name, module.name, module.file});
    return !until_.is_over();
  });
}

void search::from(const root_group& group) {
  for (const root& each : group) {
    if (each.from == root::origin::globals) {
      add_globals(each);
    } else {
      add_root(each);
    }
  }
  drain();
}

void search::from_nobody(address object) {
  is_named_ = false;
  add_root({root::origin::nobody, object, 0, 0, 0});
  drain();
}

std::vector<address> search::unreferred(const mapped_array<address>& some) {
  unreferred_objects found;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const kind what = kinds_.of(some[i]);
    const bool is_container =
        what == kind::list || what == kind::tuple || what == kind::dict || what == kind::set;
    if (is_container) found.all.insert(some[i]);
  }
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (until_.is_over()) return {};
    visit_references(python_, some[i], kinds_.of(some[i]), found);
  }
  std::vector<address> left;  // in the order of the collector: names do not hang on addresses
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (found.all.contains(some[i])) left.push_back(some[i]);
  }
  return left;
}

void search::from_statement(address object) {
  add_root({root::origin::statement, object, 0, 0, 0});
  drain();
}

void search::from_postponed() {
  is_postponing_ = false;
  while (next_postponed_ < postponed_.size() && !is_incomplete()) {
    const postponed& next = postponed_[next_postponed_++];
    static_cast<void>(objects_.add(next.object, next.parent));
    drain();
  }
  is_postponing_ = true;
}

void search::postpone(address object) noexcept {
  static_cast<void>(postponed_.push({object, current_}));
}

// Before the object is looked at: from swapped memory that alone takes milliseconds.
bool search::visit(address object) noexcept {
  if (until_.is_over() || objects_.is_full()) return false;
  const kind what = object == 0 ? kind::nothing : kinds_.of(object);
  if (what == kind::nothing) return true;
  // A bound method leads back to its object, which mostly has a name of its own: peft keeps one of the
  // model that it wraps.
  const bool leads_back = what == kind::plain && type_of(object) == python_.method;
  if ((what == kind::optimizer || leads_back) && is_postponing_) {
    postpone(object);
  } else {
    const bool is_new = objects_.add(object, current_) != no_node;
    if (!is_new && what == kind::tensor && is_named_)
      static_cast<void>(met_again_.push({object, current_}));
  }
  return true;
}

bool search::visit_key(address object) noexcept {
  if (until_.is_over()) return false;
  const kind what = kinds_.of(object);
  // An optimizer's tensors for a parameter are under it; any other tensor is there for the
  // dictionary.
  if (what == kind::tensor && name_of_type(type_of(object)) != "Parameter") return visit(object);
  if (what != kind::nothing) postpone(object);
  return true;
}

void search::from_object(address object, node parent) {
  static_cast<void>(objects_.add(object, parent));
  drain();
}

void search::drain() {
  while (next_ < objects_.size() && !until_.is_over()) expand(next_++);
}

void search::expand(node which) {
  const address object = objects_.object(which);
  const kind what = kinds_.of(object);
  current_ = which;
  if (what == kind::tensor) {
    note_tensor(which);
  } else if (what == kind::storage) {
    seen_storage seen;
    if (reader_.read_storage(object, seen)) note(which, seen, 0);
  }
  if (what == kind::optimizer) optimizers_.push_back(object);
  if (what == kind::frame && running_.contains(frame_of_object(python_, object).frame)) return;
  visit_references(python_, object, what, *this);
}

void search::note(node holder, const seen_storage& seen, std::uint32_t flags) {
  if (seen.has_graph) flags |= format::held_has_graph;
  const auto [place, is_new] = by_address_.try_emplace(seen.address, storages_.size());
  if (is_new) {
    constexpr std::uint64_t block = 512;
    block_bytes_ += (seen.bytes + block - 1) / block * block;
    storages_.push_back(
        {seen.address, seen.bytes, seen.used_bytes, holder, no_node, 0, flags, seen.shape});
    return;
  }
  held_storage& known = storages_[place->second];
  if (!is_named_) return;
  known.used_bytes += seen.used_bytes;
  constexpr auto by_others = format::held_graph | format::held_gradient;
  if (((flags | known.flags) & by_others) == 0 && !objects_.is_root(holder))
    note_other(known, objects_.parent(holder), objects_.object(holder));
  if ((known.flags & format::held_graph) == 0) known.flags |= flags & format::held_has_graph;
}

// param_groups: [{"params": [p, …], "lr": …}, …]. A parameter may have its memory in attributes: those of
// a DTensor are two levels down.
void search::mark_trained() {
  for (const address optimizer : optimizers_) mark_trained(optimizer);
  for (held_storage& held : storages_) {
    if (!optimizers_.empty() && (held.flags & format::held_trained) == 0 &&
        is_in_optimizer(held.holder))
      held.flags |= format::held_state;
  }
}

void search::mark_trained(address optimizer) {
  constexpr int deepest = 5;
  const address groups = instance_value(python_, optimizer, "param_groups");
  reached_objects reached(groups == 0 ? 0 : most_objects_);
  if (groups != 0) static_cast<void>(reached.visit(groups));
  bool has_momentum = false;
  for (std::size_t i = 0; i < reached.all.size(); ++i) {
    const auto [object, depth] = reached.all[i];
    const kind what = kinds_.of(object);
    seen_storage seen;
    if (what == kind::tensor && reader_.read_tensor(object, seen)) {
      mark_trained(seen.address, type_of(optimizer), has_momentum);
      continue;
    }
    const bool leads_on =
        what == kind::list || what == kind::tuple || what == kind::dict || what == kind::tensor;
    if (!leads_on || depth == deepest) continue;
    if (what == kind::dict) has_momentum = has_momentum || names_momentum(python_, object);
    reached.depth = depth + 1;
    visit_references(python_, object, what, reached);
  }
}

void search::mark_trained(std::uint64_t storage, address type, bool has_momentum) noexcept {
  const auto known = by_address_.find(storage);
  if (known == by_address_.end()) return;
  held_storage& held = storages_[known->second];
  if (is_in_optimizer(held.holder)) return;
  held.flags |= format::held_trained;
  held.optimizer_type = type;
  held.has_momentum = has_momentum;
}

bool search::is_in_optimizer(node which) noexcept {
  while (kinds_.of(objects_.object(which)) != kind::optimizer) {
    if (objects_.is_root(which)) return false;
    which = objects_.parent(which);
  }
  return true;
}

void search::note_others() noexcept {
  for (std::size_t i = 0; i < met_again_.size() && !until_.is_over(); ++i) {
    const auto [tensor, parent] = met_again_[i];
    seen_storage seen;
    if (!reader_.read_tensor(tensor, seen)) continue;
    const auto known = by_address_.find(seen.address);
    if (known != by_address_.end()) note_other(storages_[known->second], parent, tensor);
  }
}

// A variable is none, which the next turn gives another value; nor is what an optimizer has of a model.
void search::note_other(held_storage& known, node parent, address tensor) noexcept {
  if (known.other_parent != no_node || objects_.is_root(known.holder)) return;
  const bool is_other = objects_.parent(known.holder) != parent && !is_in_optimizer(parent);
  if (!is_other) return;
  known.other_parent = parent;
  known.other = tensor;
}

void search::note_tensor(node tensor) {
  if (reader_.has_graph(objects_.object(tensor))) static_cast<void>(graphs_.push(tensor));
  seen_storage seen;
  if (reader_.read_tensor(objects_.object(tensor), seen)) note(tensor, seen, 0);
  seen_storage gradient;
  if (reader_.read_gradient(objects_.object(tensor), gradient)) {
    note(tensor, gradient, format::held_gradient);
  }
}

}  // namespace memtrace::heap_scan
