// SPDX-License-Identifier: Apache-2.0
//
// Calls a function that its library had when they were linked, and no longer has.
#include <stdio.h>

long missing(long, long) __asm__(NAME);

#ifdef WITH
long missing(long a, long b) {
  return a + b;
}
#endif

#ifdef PROGRAM
int main(void) {
  puts("before");
  fflush(stdout);
  printf("%ld\n", missing(0, 0));
}
#endif
