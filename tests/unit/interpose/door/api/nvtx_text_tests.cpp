// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/nvtx_text.h"

#include <string>

#include "tests/unit/catch.h"

using namespace memtrace::nvtx;
namespace names = memtrace::names;

namespace {

event_attributes with_text(const char* text) {
  event_attributes made{};
  made.size = sizeof made;
  made.message = message_kind::bytes;
  made.text.bytes = text;
  return made;
}

std::string text_of(const names::name* name) {
  return name == nullptr ? "none" : std::string(name->text);
}

}  // namespace

TEST_CASE("wide texts become UTF-8") {
  CHECK(text_of(name_of(L"a\u00e9\u20ac\U0001f600")) == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  const wchar_t broken[] = {0xd800, 0x110000, 0};
  CHECK(text_of(name_of(broken)) == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(text_of(name_of(static_cast<const wchar_t*>(nullptr))) == "none");
  CHECK(text_of(name_of(L"")) == "none");
}

TEST_CASE("a long wide text is cut between two characters") {
  const std::wstring text(names::max_bytes, L'\u20ac');
  const names::name* const name = name_of(text.c_str());
  CHECK(name->text.size() == names::max_bytes / 3 * 3);
}

TEST_CASE("a domain's name goes before the message") {
  const handle* const domain = handle_of_domain(names::intern("mine"));
  const event_attributes attributes = with_text("range");
  CHECK(text_of(name_of(domain, &attributes)) == "mine: range");
  CHECK(text_of(name_of(nullptr, &attributes)) == "range");
  CHECK(text_of(name_of(domain, nullptr)) == "mine: ");
  CHECK_FALSE(is_library(domain));
}

TEST_CASE("NVIDIA's libraries are known by their domains") {
  CHECK(is_library(handle_of_domain(names::intern("NCCL"))));
  CHECK(is_library(handle_of_domain(names::intern("CUBLAS"))));
  CHECK_FALSE(is_library(handle_of_domain(names::intern("NCCL tests"))));
  CHECK_FALSE(is_library(nullptr));
  CHECK(handle_of_domain(nullptr) == nullptr);
}

TEST_CASE("attributes are read no further than the program filled them") {
  event_attributes attributes = with_text("range");
  attributes.size = offsetof(event_attributes, message);
  CHECK(text_of(name_of(nullptr, &attributes)) == "none");
  attributes = with_text(nullptr);
  CHECK(text_of(name_of(nullptr, &attributes)) == "none");
}

TEST_CASE("a registered text is a message") {
  event_attributes attributes{};
  attributes.size = sizeof attributes;
  attributes.message = message_kind::registered;
  attributes.text.registered = handle_of(names::intern("registered"));
  CHECK(text_of(name_of(nullptr, &attributes)) == "registered");
}
