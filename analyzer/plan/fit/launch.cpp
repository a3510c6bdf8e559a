// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/launch.h"

#include <utility>

#include "analyzer/plan/fit/variants.h"

namespace memtrace::fit {

std::variant<launch, complaint> launch_of(const wishes& wanted, const value_places& places,
                                          const trial& of, const std::string& folder) {
  launch made{wanted.command, {}};
  put_words(wanted.variants[of.variant].words, made);
  const auto training = of.what == batch_of::training ? of.batch : of.training_batch;
  auto why = places.batch.put(std::to_string(training), made, folder);
  for (const auto& [what, place] : {std::pair(batch_of::evaluation, &places.evaluation),
                                    std::pair(batch_of::generation, &places.generation)}) {
    // Where another one is looked for, this one is as the command has it.
    if (why.empty() && of.what == what && *place) {
      why = (*place)->put(std::to_string(of.batch), made, folder);
    }
  }
  if (why.empty() && places.sequence && of.sequence) {
    why = places.sequence->put(std::to_string(*of.sequence), made, folder);
  }
  if (why.empty() && places.accumulation) {
    const auto times = accumulation_of(places.effective, training, places.devices);
    why = places.accumulation->put(std::to_string(times), made, folder);
  }
  if (!why.empty()) return complaint{std::move(why)};
  return made;
}

}  // namespace memtrace::fit
