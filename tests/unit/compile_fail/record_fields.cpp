// SPDX-License-Identifier: Apache-2.0
//
// One kind of record more, as somebody would add it. It compiles as it stands, and with none of
// the faults that MEMTRACE_FAULT names: then the compiler is what notices them.
#include <cstdint>

#include "analyzer/export/scrub/field_copier.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace {
namespace {

struct noise {
  std::uint64_t level = 0;
  trace::text_id name;

  static constexpr void fields(auto& io, auto& r) {
#if MEMTRACE_FAULT == 1  // a number whose privacy is not told
    io.number("level", r.level);
#else
    io.number("level", record::kept, r.level);
#endif
#if MEMTRACE_FAULT == 2  // a text whose privacy is not told
    io.text("name", r.name);
#elif MEMTRACE_FAULT == 3  // a text taken for a number: it would stay
    io.text("name", record::kept, r.name);
#else
    io.text("name", record::text_privacy::words, r.name);
#endif
#if MEMTRACE_FAULT == 4  // an encoding that the privacy copy does not know
    io.picture("level", record::kept, r.level);
#endif
  }
};

[[maybe_unused]] void copy(scrub::field_copier& copier) {
  noise record;
  noise::fields(copier, record);
}

#if MEMTRACE_FAULT == 5  // an event that no visitor, and so no dump, takes
[[maybe_unused]] const auto handler = trace::handler_of(noise{});
#else
[[maybe_unused]] const auto handler = trace::handler_of(trace::heap_scan_event{});
#endif

#if MEMTRACE_FAULT == 6  // a kind without a list of fields
constexpr auto kind = static_cast<format::kind>(0);
#else
constexpr auto kind = format::kind::census;
#endif
[[maybe_unused]] const record::of_kind<kind, trace::ids>::type last{};

}  // namespace
}  // namespace memtrace
