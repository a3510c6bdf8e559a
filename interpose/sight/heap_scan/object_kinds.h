// SPDX-License-Identifier: Apache-2.0
//
// The kinds of objects that a heap scan knows, by type. Each type is looked at once.
#pragma once

#include <cstdint>

#include "interpose/sight/heap_scan/mapped_array.h"
#include "interpose/sight/heap_scan/python_types.h"
#include "interpose/sight/heap_scan/storage_reader.h"

namespace memtrace::heap_scan {

enum class kind : std::uint8_t {
  unknown,
  nothing,  // neither holds objects nor GPU memory: never entered
  plain,    // what its tp_traverse says
  dict,
  list,
  tuple,
  set,
  deque,
  cell,
  function,
  frame,
  traceback,
  generator,  // and coroutines
  exception,
  module,  // not crossed
  type,
  lru_cache,
  optimizer,  // searched last: the model should own the parameters
  tensor,
  storage,     // torch.UntypedStorage
  graph_node,  // of a torch.autograd.Function: its ctx
};

class object_kinds {
 public:
  object_kinds(const python_objects& python, const storage_reader& reader) noexcept
      : python_(python), reader_(reader) {}

  [[nodiscard]] kind of(address object) noexcept {
    const address type = type_of(object);
    if (cache_.capacity() == 0) return look_at(type, object);
    known& entry = cache_[(type >> 4) % cache_.capacity()];
    if (entry.type != type) entry = {type, look_at(type, object)};
    return entry.what;
  }

 private:
  struct known {
    address type;
    kind what;
  };
  [[nodiscard]] kind look_at(address type, address object) const noexcept;
  [[nodiscard]] kind of_builtin(address type) const noexcept;
  [[nodiscard]] kind by_bases(address type) const noexcept;

  const python_objects& python_;
  const storage_reader& reader_;
  mapped_array<known> cache_{4093};  // too large for the stack of a small thread
};

}  // namespace memtrace::heap_scan
