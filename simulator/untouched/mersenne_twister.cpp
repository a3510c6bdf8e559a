// SPDX-License-Identifier: Apache-2.0
//
// M. Matsumoto, T. Nishimura: Mersenne Twister, ACM TOMACS 8 (1998), the recurrence of MT19937. A
// number is one word that is tempered; skipping needs the words alone.
#include "simulator/untouched/mersenne_twister.h"

#include <algorithm>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace memtrace::simulator::untouched {
namespace {

constexpr int words = mersenne_twister::words;
constexpr int middle = 397;
constexpr std::uint32_t upper_bit = 0x80000000;
constexpr std::uint32_t matrix = 0x9908b0df;
constexpr int lane = 4;  // words at once

std::uint32_t twisted(std::uint32_t one, std::uint32_t following) {
  const std::uint32_t mixed = (one & upper_bit) | (following & ~upper_bit);
  return (mixed >> 1) ^ ((following & 1) != 0 ? matrix : 0);
}

#ifdef __SSE2__
// Four words from `at` on. The words of `far` are others than those that are written.
void twist_four(std::uint32_t* at, const std::uint32_t* far) {
  const auto load = [](const std::uint32_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const __m128i following = load(at + 1);
  const __m128i upper = _mm_set1_epi32(static_cast<int>(upper_bit));
  const __m128i mixed =
      _mm_or_si128(_mm_and_si128(upper, load(at)), _mm_andnot_si128(upper, following));
  const __m128i is_odd =
      _mm_sub_epi32(_mm_setzero_si128(), _mm_and_si128(following, _mm_set1_epi32(1)));
  const __m128i change = _mm_and_si128(is_odd, _mm_set1_epi32(static_cast<int>(matrix)));
  const __m128i result = _mm_xor_si128(load(far), _mm_xor_si128(_mm_srli_epi32(mixed, 1), change));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), result);
}
#else
void twist_four(std::uint32_t* at, const std::uint32_t* far) {
  for (int i = 0; i < lane; ++i) at[i] = far[i] ^ twisted(at[i], at[i + 1]);
}
#endif

void twist(std::array<std::uint32_t, words>& state) {
  std::uint32_t* const p = state.data();
  int i = 0;
  for (; i + lane <= words - middle; i += lane) twist_four(p + i, p + i + middle);
  for (; i < words - middle; ++i) p[i] = p[i + middle] ^ twisted(p[i], p[i + 1]);
  for (; i + lane <= words - 1; i += lane) twist_four(p + i, p + i + middle - words);
  for (; i < words - 1; ++i) p[i] = p[i + middle - words] ^ twisted(p[i], p[i + 1]);
  p[i] = p[i + middle - words] ^ twisted(p[i], p[0]);
}

}  // namespace

void mersenne_twister::skip(std::uint64_t numbers) noexcept {
  while (numbers > 0) {
    // The words are reallocated by the draw that finds none, not by the one that takes the last.
    if (left == 1) {
      twist(state);
      left = words + 1;
      next = 0;
    }
    const auto some = std::min<std::uint64_t>(numbers, static_cast<std::uint64_t>(left - 1));
    left -= static_cast<std::int32_t>(some);
    next += static_cast<std::uint32_t>(some);
    numbers -= some;
  }
}

}  // namespace memtrace::simulator::untouched
