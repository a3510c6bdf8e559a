// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/probe_json.h"

#include <nlohmann/json.hpp>

namespace memtrace::fit {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* schema = "memtrace-probe/1";

[[nodiscard]] json json_of(const trial& of) {
  return {{"model", of.model},
          {"total_bytes", of.total_bytes},
          {"batch", of.batch},
          {"sequence", of.sequence ? json(*of.sequence) : json()},
          {"variant", of.variant},
          {"batch_of", name_of(of.what)},
          {"training_batch", of.training_batch}};
}

}  // namespace

std::string to_text(const probe& ran) {
  const json made = {{"schema", schema},
                     {"trial", json_of(ran.of)},
                     {"fits", ran.came == verdict::fits},
                     {"caught", ran.caught},
                     {"stopped_early", ran.stopped_early},
                     {"seconds", ran.seconds},
                     {"output", ran.output}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<probe> probe_in(const std::string& text, const trial& wanted) {
  const auto read = json::parse(text, nullptr, false);
  if (!read.is_object() || read.value("schema", "") != schema) return std::nullopt;
  if (!read.contains("trial") || read["trial"] != json_of(wanted)) return std::nullopt;
  probe made;
  made.of = wanted;
  made.came = read.value("fits", false) ? verdict::fits : verdict::ran_out;
  made.caught = read.value("caught", false);
  made.stopped_early = read.value("stopped_early", false);
  made.seconds = read.value("seconds", 0.0);
  made.output = read.value("output", "");
  made.from_cache = true;
  return made;
}

}  // namespace memtrace::fit
