// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/snapshot.h"

#include <cstddef>
#include <string>

#include "analyzer/export/formats/snapshot/pickle.h"

namespace memtrace::exporting {

namespace {

void add(std::string& to, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!to.empty()) to += "; ";
  to += name;
  to += ": ";
  to += value;
}

}  // namespace

pickle::memo block_words::of(const block& one) {
  auto& known = known_[{one.fate, one.what}];
  if (known != 0) return known;
  std::string words;
  add(words, "category", attribution::name_of(one.what));
  add(words, "name", name_of(from_, one));
  if (one.fate != nullptr) {
    add(words, "detail", from_.names[one.fate->detail]);
    add(words, "node", from_.names[one.fate->node]);
  }
  add(words, "module", module_of(from_, one));
  add(words, "phase", attribution::name_of(one.born_in));
  add(words, "evidence", attribution::name_of(one.how));
  return known = to_.define_text(words);
}

pickle::memo block_words::category_of(const block& one) {
  if (one.what == attribution::category::unknown) return static_cast<pickle::memo>(word::unknown);
  auto& known = categories_[one.what];
  if (known == 0) known = to_.define_text(attribution::name_of(one.what));
  return known;
}

void put_settings(std::string& to, const allocator::settings& now, std::string_view text) {
  const auto flag = [&](std::string_view name, bool value) {
    pickle::text(to, name);
    pickle::boolean(to, value);
  };
  pickle::dict(to);
  pickle::mark(to);
  pickle::text(to, "PYTORCH_CUDA_ALLOC_CONF");
  pickle::text(to, text);
  pickle::text(to, "max_split_size");
  if (now.max_split_size == allocator::unlimited) {
    pickle::minus_one(to);
  } else {
    pickle::integer(to, now.max_split_size);
  }
  pickle::text(to, "garbage_collection_threshold");
  pickle::real(to, now.garbage_collection_threshold);
  flag("expandable_segments", now.expandable_segments);
  pickle::text(to, "pinned_num_register_threads");
  pickle::integer(to, now.pinned_num_register_threads);
  flag("release_lock_on_cudamalloc", now.release_lock_on_cudamalloc);
  flag("pinned_use_cuda_host_register", now.pinned_use_cuda_host_register);
  flag("graph_capture_record_stream_reuse", now.graph_capture_record_stream_reuse);
  pickle::text(to, "roundup_power2_divisions");
  pickle::dict(to);
  pickle::mark(to);
  for (std::size_t power = 0; power < now.roundup_power2_divisions.size(); ++power) {
    pickle::text(to, std::to_string(std::uint64_t{1} << power));  // MiB
    pickle::integer(to, now.roundup_power2_divisions[power]);
  }
  pickle::set_items(to);
  pickle::set_items(to);
}

}  // namespace memtrace::exporting
