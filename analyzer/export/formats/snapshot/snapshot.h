// SPDX-License-Identifier: Apache-2.0
//
// `--format snapshot`: a trace as the pickle that torch.cuda.memory._dump_snapshot() writes, for
// PyTorch's memory_viz and whatever else reads such files.
//
//   happened() ─► frame_lists, block_words ─► pickle_file   what events refer to, once
//             ├─► event_list of the device  ─► pickle_file   events, a thousand at a time
//             └─► heap of the device                         segments and blocks
//   end()  ─────► heap ─► pickle_file                        as they are at the end
//
// More than PyTorch writes: `category` and `user_metadata` (block_words), stacks where no Python
// frame was running (frame_lists.h), and the frames that made a segment. Less: `compile_context`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/formats/formats.h"
#include "analyzer/export/formats/sink.h"
#include "analyzer/export/formats/snapshot/event_list.h"
#include "analyzer/export/formats/snapshot/frame_lists.h"
#include "analyzer/export/formats/snapshot/heap.h"
#include "analyzer/export/formats/snapshot/pickle_file.h"
#include "analyzer/model/allocator/settings.h"

namespace memtrace::exporting {

// Everything memtrace knows about a block, as PyTorch's `user_metadata` of its events, which the
// viewer shows below the block's size and searches:
//
//   category: weights; name: layers.0.attn.weight; module: Net.layers.0.attn; phase: setup
//
// and the name of its category, by which the viewer colours it. Each text is in the file once.
class block_words {
 public:
  block_words(const process& from, pickle_file& to) : from_(from), to_(to) {}

  [[nodiscard]] pickle::memo of(const block& one);
  [[nodiscard]] pickle::memo category_of(const block& one);

 private:
  const process& from_;
  pickle_file& to_;
  std::map<std::pair<const history::fate*, attribution::category>, pickle::memo> known_;
  attribution::by_category<pickle::memo> categories_{};  // 0: not written yet
};

// The allocator's settings as PyTorch's snapshot has them.

// `text`: what the variable, or the latest change, said.
void put_settings(std::string& to, const allocator::settings& now, std::string_view text);

class snapshot final : public sink {
 public:
  snapshot(destination& to, const options& wanted);

  void begin(const process& from) override;
  void earlier(const allocator_event& event, const block* one) override;
  void carried(const block& one) override;
  void happened(const allocator_event& event, const block* one, const moment& now) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void end(const process& from, const std::vector<moment>& last) override;
  [[nodiscard]] std::optional<std::string> finish() override;

 private:
  struct of_device {
    of_device(pickle_file& to, std::size_t most) : events(to, most), has_unknown(most != 0) {}
    event_list events;
    heap memory;
    // Freed before the window, but not yet by all streams, with the request: by address.
    std::map<std::uint64_t, std::pair<block, allocator_event>> pending;
    bool has_unknown = false;  // an event with that category
  };
  // An event's fields but its action; memos of what is not there are 0.
  struct told {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t stream = 0;
    std::uint64_t time_ns = 0;
    pickle::memo frames = 0;
    pickle::memo words = 0;
    pickle::memo category = 0;
  };

  [[nodiscard]] of_device& at(std::uint32_t device);
  void put(of_device& device, format::kind kind, told event);
  void encode(format::kind kind, const told& event);
  [[nodiscard]] told told_of(const allocator_event& event);
  void born(of_device& device, const block& one, told event);
  void requested_free(of_device& device, const block* one, told event);
  void completed_free(of_device& device, told event);
  void open_window();
  void put_segments_before(of_device& device);
  void allocated_before(const block& one);
  void made_segment(of_device& device, const allocator_event& event);
  void put_settings_at_end();

  options wanted_;
  pickle_file file_;
  const process* from_ = nullptr;
  std::unique_ptr<frame_lists> frames_;
  std::unique_ptr<block_words> words_;
  std::map<std::uint32_t, std::unique_ptr<of_device>> devices_;
  std::string event_;            // in the making
  bool is_open_ = false;         // the window
  bool completes_frees_ = true;  // the recording tells when a free is completed
  allocator::settings settings_;
  std::string settings_text_;
};

[[nodiscard]] std::unique_ptr<sink> make_snapshot(destination& to, const options& wanted);

}  // namespace memtrace::exporting
