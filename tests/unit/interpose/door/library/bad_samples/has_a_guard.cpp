// SPDX-License-Identifier: Apache-2.0
// A static that is initialised when it is first needed.
namespace memtrace {
int find();
int found();
int found() {
  static const int known = find();
  return known;
}
int find() {
  return 7;
}
}  // namespace memtrace
