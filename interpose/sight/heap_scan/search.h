// SPDX-License-Identifier: Apache-2.0
//
// The search itself: from the roots, breadth first, to every object that stands for memory on a
// GPU. Each storage belongs to the first object that was found to hold it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpose/sight/heap_scan/deadline.h"
#include "interpose/sight/heap_scan/found_objects.h"
#include "interpose/sight/heap_scan/object_kinds.h"
#include "interpose/sight/heap_scan/roots.h"

namespace memtrace::heap_scan {

// Gets the references of an object, as far as a heap scan follows them: through tp_traverse, as the
// garbage collector does, which runs no code of the program. Not followed: a module's and a
// function's globals, and the names of what a dictionary holds. False: nothing more is wanted, also
// not of an object with millions of references.
class reference_visitor {
 public:
  [[nodiscard]] virtual bool visit(address object) noexcept = 0;
  [[nodiscard]] virtual bool visit_key(address object) noexcept = 0;

 protected:
  ~reference_visitor() = default;
};

struct held_storage {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t used_bytes;  // by all tensors that were found
  node holder;               // the tensor
  // A tensor in another container that has the memory, too; no_node: none was met.
  node other_parent;
  heap_scan::address other;
  std::uint32_t flags;  // format::held_*
  tensor_shape shape;   // of the tensor that was found first
  // Class of the optimizer whose param_groups it stands in; 0: of none.
  heap_scan::address optimizer_type = 0;
  bool has_momentum = false;  // that group has a momentum that is not 0
};

class search final : private reference_visitor {
 public:
  search(const python_objects& python, const storage_reader& reader, std::uint64_t most_objects,
         deadline& until) noexcept;

  // Not to be entered: the modules and their globals.
  void exclude(address modules);
  // Frames on a thread's stack: what they hold is not a traceback's.
  void exclude_running(const std::vector<read_frame>& frames);
  void from(const root_group& group);
  // The same without a name: the base that a view keeps alive makes no use of its memory.
  void from_nobody(address object);
  // Of objects that the search has not met the containers that none of them refers to, and so no cycle: a
  // statement that runs has them, as a comprehension its list, or C++.
  [[nodiscard]] std::vector<address> unreferred(const mapped_array<address>& some);
  void from_statement(address object);
  // Goes on with what was put off meanwhile: optimizers, keys and bound methods.
  void from_postponed();
  // Says of the storages in the param_groups of the optimizers that were met that they are trained, but
  // for those that are found there alone: copies of a model's parameters.
  void mark_trained();

  // Of tensors that were met again: says of their storages who else has them. Once, at the end.
  void note_others() noexcept;

  // A storage that something keeps which is no object of Python's.
  void from_object(address object, node parent);
  // A storage that an object holds; the first to be told of is its owner.
  void note(node holder, const seen_storage& seen, std::uint32_t flags);

  // In the order in which they were found.
  [[nodiscard]] const mapped_array<node>& tensors_with_graphs() const noexcept { return graphs_; }
  [[nodiscard]] std::uint64_t most_objects() const noexcept { return most_objects_; }
  [[nodiscard]] deadline& until() noexcept { return until_; }
  [[nodiscard]] const python_objects& python() const noexcept { return python_; }
  [[nodiscard]] bool is_incomplete() const noexcept {
    return objects_.is_full() || until_.was_over();
  }
  [[nodiscard]] const found_objects& objects() const noexcept { return objects_; }
  [[nodiscard]] const std::vector<root>& roots() const noexcept { return roots_; }
  [[nodiscard]] const std::vector<held_storage>& storages() const noexcept { return storages_; }
  // As the allocator counts them: blocks of 512 bytes.
  [[nodiscard]] std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] kind kind_of(address object) noexcept { return kinds_.of(object); }

 private:
  struct postponed {
    address object;
    std::uint32_t parent;
  };
  bool visit(address object) noexcept override;
  bool visit_key(address object) noexcept override;
  void drain();
  void expand(node which);
  void postpone(address object) noexcept;
  void add_globals(const root& module);
  void add_root(const root& named);
  void note_tensor(node tensor);
  void note_other(held_storage& known, node parent, address tensor) noexcept;
  void mark_trained(address optimizer);
  void mark_trained(std::uint64_t storage, address type, bool has_momentum) noexcept;
  [[nodiscard]] bool is_in_optimizer(node which) noexcept;

  const python_objects& python_;
  const storage_reader& reader_;
  deadline& until_;
  const std::uint64_t most_objects_;
  object_kinds kinds_;
  found_objects objects_;
  std::vector<root> roots_;
  std::unordered_set<address> running_;
  mapped_array<postponed> postponed_;  // filled inside tp_traverse: nothing may be thrown
  mapped_array<postponed> met_again_;  // tensors, the same
  mapped_array<node> graphs_;
  std::vector<address> optimizers_;
  std::vector<held_storage> storages_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
  std::size_t next_postponed_ = 0;
  node next_ = 0;
  node current_ = no_node;
  bool is_postponing_ = true;
  bool is_named_ = true;
  std::uint64_t block_bytes_ = 0;
};

}  // namespace memtrace::heap_scan
