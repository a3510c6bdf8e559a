// SPDX-License-Identifier: Apache-2.0
extern "C" void run();

int main() {
  run();
}
