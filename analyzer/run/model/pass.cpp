// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/pass.h"

#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/model/replay/blocks_of_calls.h"
#include "analyzer/run/model/changes.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/run/model/parts.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::run {

pass::pass(trace::reader& reader, attribution::options wanted, steps_given given,
           bool has_blocks_of_calls, also_kept also, const on_progress_t& on_progress)
    : reader_(reader),
      names_(reader.names()),
      given_(std::move(given)),
      has_blocks_of_calls_(has_blocks_of_calls),
      replayed_(names_),
      lives_(std::in_place, names_, replayed_, given_.ends),
      requests_(names_),
      counters_(names_),
      optimizers_(names_),
      host_(names_, replayed_),
      uses_(names_, replayed_),
      activity_(names_),
      shared_(names_),
      cache_use_(names_),
      segments_(names_) {
  attribution::life_observers lives;
  lives.add(*lives_);
  lives.add(requests_.lives());
  // Who asks for neither pays for neither.
  if (also.history) lives.add(history_.emplace(names_, replayed_));
  if (also.fates) lives.add(fates_.emplace());
  wanted.lives = &lives;
  // Feeds the replay, which the others look at: the first to see a record.
  attribution::attributor attributor(names_, replayed_, std::move(wanted));
  trace::observers all(attributor, counters_, host_, uses_, optimizers_, cache_use_, shared_,
                       activity_, requests_.records(), segments_, copies_);
  const auto read_for = [&](auto& whom) {
    if (!has_blocks_of_calls_) {
      completeness_ = reader_.read(whom, on_progress);
      return;
    }
    replay::blocks_of_calls blocks(names_, whom);
    trace::observers everyone(whom, blocks);
    completeness_ = reader_.read(everyone, on_progress);
  };
  if (history_) {
    trace::observers all_and_history(all, *history_);
    read_for(all_and_history);
  } else {
    read_for(all);
  }
  attributed_ = attributor.finish();
}

process_report pass::report(const std::string& path, std::optional<inferred_steps_report> steps,
                            const load_options& options) {
  process_report made;
  made.path = text::valid_utf8(path);
  add_recording(names_, reader_.header(), completeness_, replayed_, made);
  add_devices(names_, replayed_, attributed_, has_blocks_of_calls_, made);
  made.inferred_steps = std::move(steps);
  if (history_) made.history = history_->take();
  if (fates_) made.fates = fates_->take();
  add_device_use(uses_.finish(), activity_.finish(), made);
  made.counters = counters_.found();
  made.optimizers = optimizers_.found();
  made.host = host_.found();
  made.shared = shared_.found();
  add_verdicts(names_, replayed_, attributed_, *lives_, {given_.unit, options.suppressions},
               cache_use_, made);
  lives_.reset();
  history_.reset();
  fates_.reset();
  if (options.advice) {
    add_allocator(names_, replayed_, attributed_, {requests_, segments_, copies_},
                  options.on_replayed, made);
  }
  made.changes = changes_of(made);
  made.answer = headline_of(made);
  return made;
}

}  // namespace memtrace::run
