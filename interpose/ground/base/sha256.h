// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), written from the standard: it tells whether a file is the one that a trace
// was made of, so it has to be one that everybody has (`sha256sum`), and that nobody can make two
// texts for. zstd's XXH64, which is linked already, is neither.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memtrace {

class sha256 {
 public:
  using hexadecimal = std::array<char, 64>;

  // As `sha256sum` prints it.
  [[nodiscard]] static hexadecimal of(std::string_view text) noexcept {
    sha256 hash;
    std::string_view rest = text;
    for (; rest.size() >= block_bytes; rest.remove_prefix(block_bytes)) hash.add(rest.data());
    // A bit, zeroes, and the length in bits, of eight bytes, at the end of a block.
    std::array<char, 2 * block_bytes> last{};
    rest.copy(last.data(), rest.size());
    last[rest.size()] = static_cast<char>(0x80);
    const std::size_t end = rest.size() + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    for (unsigned i = 0; i < 8; ++i) last[end - 1 - i] = static_cast<char>(bits >> (8 * i));
    for (std::size_t at = 0; at < end; at += block_bytes) hash.add(last.data() + at);
    return hash.digits();
  }

 private:
  using words = std::array<std::uint32_t, 64>;
  static constexpr std::size_t block_bytes = 64;
  static constexpr words constants = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};

  void add(const char* block) noexcept {
    words w;
    for (unsigned i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (unsigned i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15];
      const std::uint32_t b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    std::array<std::uint32_t, 8> s = state_;
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const std::uint32_t first = s[7] +
                                  (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                                  choice + constants[i] + w[i];
      const std::uint32_t second =
          (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + majority;
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (unsigned i = 0; i < 8; ++i) state_[i] += s[i];
  }

  [[nodiscard]] static std::uint32_t big_endian(const char* bytes) noexcept {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  [[nodiscard]] hexadecimal digits() const noexcept {
    hexadecimal text{};
    for (unsigned i = 0; i < text.size(); ++i) {
      text[i] = "0123456789abcdef"[state_[i / 8] >> (28 - i % 8 * 4) & 15];
    }
    return text;
  }

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace memtrace
