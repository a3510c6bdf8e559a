// SPDX-License-Identifier: Apache-2.0
// As if libstdc++ had been linked shared: a program that brings an older one would not start.
#include <string>
std::string grow(std::string text) {
  return text + text;
}
