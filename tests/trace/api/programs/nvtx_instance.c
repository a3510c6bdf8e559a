/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with an instance of NVTX of its own, reduced to what its interface says: tables of
 * pointers that the tool fills. Says what it gets back where NVTX's documentation defines it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "told.h"

typedef void (*function)(void);

struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_kind;
  uint32_t color;
  int32_t payload_kind, reserved;
  uint64_t payload;
  int32_t message_kind;
  const void* message;
};

static function core_functions[16], domain_functions[16];
static function* core_table[17];
static function* domain_table[17];

static int find_table(int module, function*** table, unsigned* entries) {
  if (module != 1 && module != 5) return 0;
  *table = module == 1 ? core_table : domain_table;
  *entries = 16;
  return 1;
}

static const struct {
  size_t bytes;
  int (*find)(int, function***, unsigned*);
} callbacks = {sizeof callbacks, find_table};

static const void* tables(uint32_t id) {
  return id == 1 ? &callbacks : NULL;
}

static int load_tool(void) {
  const char* const path = getenv("NVTX_INJECTION64_PATH");
  void* const tool = path == NULL ? NULL : dlopen(path, RTLD_LAZY);
  void* const symbol = tool == NULL ? NULL : dlsym(tool, "InitializeInjectionNvtx2");
  int (*initialize)(const void* (*)(uint32_t)) = NULL;
  if (symbol == NULL) return 0;
  memcpy(&initialize, &symbol, sizeof initialize);
  return initialize(tables);
}

static struct attributes with(int kind, const void* message) {
  struct attributes made = {3, sizeof made, 0, 0, 0, 0, 0, 0, kind, message};
  return made;
}

#define CORE(index, type) ((type)core_functions[index])
#define DOMAIN(index, type) ((type)domain_functions[index])

static void without_domain(void) {
  const struct attributes ascii = with(1, "push ex");
  struct attributes cut = with(1, "not there");
  cut.size = 8;
  printf("push %d\n", CORE(9, int (*)(const char*))("push a"));
  CORE(10, int (*)(const wchar_t*))(L"push w \u00e9\u20ac\U0001f600");
  CORE(8, int (*)(const struct attributes*))(&ascii);
  CORE(8, int (*)(const struct attributes*))(&cut);
  CORE(8, int (*)(const struct attributes*))(NULL);
  CORE(9, int (*)(const char*))(NULL);
  for (int i = 0; i < 6; ++i) CORE(11, int (*)(void))();
  printf("pop %d\n", CORE(11, int (*)(void))());
  CORE(2, void (*)(const char*))("mark a");
  CORE(3, void (*)(const wchar_t*))(L"mark w");
}

static void overlapping(void) {
  const uint64_t one = CORE(5, uint64_t(*)(const char*))("one");
  const uint64_t two = CORE(6, uint64_t(*)(const wchar_t*))(L"two");
  printf("different %d\n", one != two && one != 0 && two != 0);
  CORE(7, void (*)(uint64_t))(one);
  CORE(7, void (*)(uint64_t))(two);
  CORE(7, void (*)(uint64_t))(two);
  CORE(7, void (*)(uint64_t))(0);
}

static void in_domain(const char* name) {
  void* const domain = DOMAIN(12, void* (*)(const char*))(name);
  void* const text = DOMAIN(10, void* (*)(void*, const char*))(domain, "registered");
  const struct attributes registered = with(3, text);
  const struct attributes wide = with(2, L"wide");
  DOMAIN(4, int (*)(void*, const struct attributes*))(domain, &registered);
  DOMAIN(1, void (*)(void*, const struct attributes*))(domain, &wide);
  DOMAIN(5, int (*)(void*))(domain);
  const uint64_t id = DOMAIN(2, uint64_t(*)(void*, const struct attributes*))(domain, &wide);
  DOMAIN(3, void (*)(void*, uint64_t))(domain, id);
}

int main(void) {
  void* address = NULL;
  for (int i = 1; i < 16; ++i) {
    core_table[i] = &core_functions[i];
    domain_table[i] = &domain_functions[i];
  }
  if (load_tool() == 0) {
    puts("no tool");
    return cudaMalloc(&address, 4096);
  }
  CORE(9, int (*)(const char*))("open before");
  const uint64_t early = CORE(5, uint64_t(*)(const char*))("started before");
  if (cudaMalloc(&address, 4096) != 0) return 1;
  CORE(7, void (*)(uint64_t))(early);
  CORE(11, int (*)(void))();
  without_domain();
  overlapping();
  in_domain("my domain");
  in_domain("NCCL");
  return cudaFree(address);
}
