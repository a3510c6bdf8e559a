// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/places.h"

#include "memtrace/trace_format.h"
#include "tests/unit/catch.h"

namespace memtrace::heap_scan {
namespace {

const place_owner fit{"local of fit", "train.py", 88};

}  // namespace

TEST_CASE("equal texts from one name are one place") {
  place_table places;
  const place_number name = places.start("trainer", fit);
  CHECK(places.start("trainer", fit) == name);
  CHECK(places.start("trainer", {"local of test", "train.py", 99}) != name);
  const place_number item = places.add(places.add(name, ".outputs"), "[…]");
  CHECK(places.add(places.add(name, ".outputs"), "[…]") == item);
  CHECK(places[item].text == "trainer.outputs[…]");
}

TEST_CASE("what repeats on the way is written once") {
  place_table places;
  const place_number name = places.start("head", fit);
  place_number at = places.add(name, ".next");
  for (int i = 0; i < 100; ++i) at = places.add(at, ".next");
  CHECK(places[at].text == "head.next");
  at = places.add(places.add(name, "[…]"), "['peer']");
  for (int i = 0; i < 100; ++i) at = places.add(places.add(at, "[…]"), "['peer']");
  CHECK(places[at].text == "head[…]['peer']");
}

TEST_CASE("far from the name nothing more is written") {
  place_table places;
  place_number at = places.start("x", fit);
  for (int i = 0; i < 100; ++i)
    at = places.add(at, "." + std::string(1, static_cast<char>('a' + i % 26)));
  CHECK(places[at].text == "x.a.b.c.d.e.f.g.h.i.j.k.l");
}

TEST_CASE("the longest container on the way is told, with the class whose attribute it is") {
  place_table places;
  const place_number name = places.start("trainer", fit);
  const place_number attribute = places.add(name, ".outputs");
  places[attribute].attribute_of = places[attribute].class_of_last = "Trainer";
  const place_number item = places.add(attribute, "[…]");
  places.note_container(item, {"list", 240}, false);
  const place_number value = places.add(item, "['logits']");
  places.note_container(value, {"dict", 2}, false);
  CHECK(places.detail(value, "limit=5") ==
        "list\x1f"
        "240\x1flocal of fit\x1ftrain.py\x1f"
        "88\x1fTrainer\x1f"
        "limit=5\x1f,\x1fTrainer");
}

TEST_CASE("an attribute without a container names its object's class") {
  place_table places;
  const place_number attribute = places.add(places.start("self", fit), ".hidden");
  places[attribute].attribute_of = places[attribute].class_of_last = "Decoder";
  CHECK(places.detail(attribute, "limit=5") ==
        "\x1f\x1flocal of fit\x1ftrain.py\x1f"
        "88\x1f"
        "Decoder\x1flimit=5\x1f\x1f"
        "Decoder");
}

TEST_CASE("of each attribute on the way the class is told that has it") {
  place_table places;
  const place_number replay = places.add(places.start("agent", fit), ".replay");
  places[replay].class_of_last = "Agent";
  const place_number part = places.add(places.add(replay, "[…]"), ".part");
  const place_number items = places.add(part, ".items");
  places[items].class_of_last = "Replay";
  const place_number item = places.add(items, "['key']");
  CHECK(
      places.detail(item, "").ends_with("\x1f"
                                        "Agent,,Replay"));
  // What is not known at the end is left out; those before a name that begins anew are, too.
  CHECK(
      places.detail(part, "").ends_with("\x1f"
                                        "Agent"));
  const place_number other = places.start("features", {"closure of hook", "train.py", 5}, item);
  CHECK(places.detail(other, "").ends_with("\x1f"));
}

TEST_CASE("a name that begins anew keeps the flags and the container of the way to it") {
  place_table places;
  const place_number hooks = places.add(places.start("model", fit), "._forward_hooks");
  places[hooks].flags |= format::held_hook;
  places[hooks].attribute_of = "Linear";
  const place_number hook = places.add(hooks, "[…]");
  places.note_container(hook, {"OrderedDict", 3}, false);
  const place_number features = places.start("features", {"closure of hook", "train.py", 5}, hook);
  CHECK(places[features].flags == format::held_hook);
  CHECK(places.detail(features, "limit=5") ==
        "OrderedDict\x1f"
        "3\x1f"
        "closure of hook\x1ftrain.py\x1f"
        "5\x1fLinear\x1flimit=5\x1f\x1f");
}

TEST_CASE("of each item on the way it is told how long its containers are") {
  place_table places;
  const place_number removed = places.add(places.start("tracker", fit), ".removed");
  const place_number track = places.add(removed, "[…]");
  places.note_level(track, removed, {7, 0, key_kind::none});
  places.note_level(track, removed, {11, 0, key_kind::none});
  const place_number crops = places.add(track, ".crops");
  const place_number crop = places.add(crops, "[…]");
  places.note_level(crop, crops, {4, 4, key_kind::none});
  CHECK(
      places.detail(crop, "").ends_with("\x1f"
                                        "11,4<4\x1f"));
  // A list in a dictionary is the same component.
  const place_number label = places.add(places.start("by_class", fit), "[…]");
  places.note_level(label, places.start("by_class", fit), {3, 0, key_kind::numbers});
  const place_number example = places.add(label, "[…]");
  CHECK(example == label);
  places.note_level(example, label, {12, 0, key_kind::none});
  CHECK(places.detail(example, "")
            .ends_with("\x1f"
                       "3i/12\x1f"));
}

TEST_CASE("a bounded container is flagged") {
  place_table places;
  const place_number item = places.add(places.start("recent", fit), "[…]");
  places.note_container(item, {"deque(maxlen=5)", 5}, true);
  CHECK(places[item].flags == format::held_bounded);
}

}  // namespace memtrace::heap_scan
