// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/rewriter.h"

#include "analyzer/export/scrub/field_copier.h"

namespace memtrace::scrub {

using format::kind;

bool rewriter::rewrite(const trace::section& part, std::vector<unsigned char>& out) {
  trace::cursor from(part.records);
  out.clear();
  while (!from.at_end()) {
    const auto tag = from.byte();
    out.push_back(tag);
    const auto what = format::kind_of(tag);
    const auto flags = format::flags_of(tag);
    const bool is_record = format::is_skippable(what) ? skippable(what, flags, from, out)
                                                      : fields(what, flags, from, out);
    if (!is_record) return false;
  }
  return true;
}

bool rewriter::fields(kind what, unsigned flags, trace::cursor& from,
                      std::vector<unsigned char>& out) {
  const auto roles = what == kind::text ? roles_.of(++texts_) : 0;
  field_copier copier(from, out, hides_, flags, roles);
  return record::with_record_of<trace::ids>(what, false, [&](auto record) {
    if constexpr (requires { record.kind; }) record.kind = what;
    record.fields(copier, record);
    return from.ok();
  });
}

// What a later version may have added behind the fields is left out, it could be text. So is all
// of a record with flags.
bool rewriter::skippable(kind what, unsigned flags, trace::cursor& from,
                         std::vector<unsigned char>& out) {
  const auto text = from.text(format::max_record_bytes);
  trace::cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  payload_.clear();
  if (flags == 0 && !fields(what, flags, payload, payload_)) return false;
  field_copier(from, out, hides_, flags, 0)
      .put({reinterpret_cast<const char*>(payload_.data()), payload_.size()});
  return from.ok();
}

}  // namespace memtrace::scrub
