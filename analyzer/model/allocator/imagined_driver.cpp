// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/imagined_driver.h"

#include "analyzer/model/allocator/rounding.h"

namespace memtrace::allocator {

namespace {

constexpr std::uint64_t granule = 2 * mebibyte;
// Far more than drivers have: so that `descending`, which uses no address twice, does not run out.
constexpr std::uint64_t first_segment = std::uint64_t{1} << 56;
constexpr std::uint64_t first_reservation = std::uint64_t{1} << 60;
constexpr std::uint64_t segments_span = std::uint64_t{1} << 58;
constexpr std::uint64_t reservations_span = std::uint64_t{1} << 62;

// splitmix64, by Sebastiano Vigna (public domain): the constants.
[[nodiscard]] std::uint64_t next_random(std::uint64_t& state) {
  auto x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

imagined_driver::imagined_driver(std::uint64_t usable_bytes, address_policy policy,
                                 std::uint64_t seed)
    : usable_bytes_(usable_bytes == 0 ? unlimited : usable_bytes),
      policy_(policy),
      random_(seed),
      segments_(first_segment, segments_span),
      reservations_(first_reservation, reservations_span) {}

bool imagined_driver::charge(std::uint64_t bytes) {
  if (bytes > usable_bytes_ || used_bytes_ > usable_bytes_ - bytes) return false;
  used_bytes_ += bytes;
  return true;
}

std::optional<std::uint64_t> imagined_driver::allocate(std::uint64_t bytes) {
  const auto pages = round_up(bytes, granule);
  if (!charge(pages)) return std::nullopt;
  const auto address = place(segments_, pages);
  if (!address) used_bytes_ -= pages;
  return address;
}

void imagined_driver::free(std::uint64_t address, std::uint64_t bytes) {
  const auto pages = round_up(bytes, granule);
  used_bytes_ -= pages;
  if (policy_ != address_policy::descending) segments_.gaps.give_back(address, pages);
}

std::optional<std::uint64_t> imagined_driver::reserve(std::uint64_t bytes) {
  return place(reservations_, round_up(bytes, granule));
}

void imagined_driver::unreserve(std::uint64_t address, std::uint64_t bytes) {
  if (policy_ != address_policy::descending) {
    reservations_.gaps.give_back(address, round_up(bytes, granule));
  }
}

bool imagined_driver::map(std::uint64_t /*address*/, std::uint64_t bytes, std::uint64_t handle) {
  if (handle % granule != 0) return false;
  return charge(bytes);
}

void imagined_driver::unmap(std::uint64_t /*address*/, std::uint64_t bytes) {
  used_bytes_ -= bytes;
}

std::optional<std::uint64_t> imagined_driver::place(space& where, std::uint64_t bytes) {
  switch (policy_) {
    case address_policy::lowest:
      return where.gaps.take_lowest(bytes);
    case address_policy::descending:
      if (where.top - where.begin < bytes) return std::nullopt;
      return where.top -= bytes;
    case address_policy::random:
      return place_at_random(where, bytes);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> imagined_driver::place_at_random(space& where, std::uint64_t bytes) {
  constexpr int attempts = 64;
  if (bytes > where.size / 2) return std::nullopt;
  for (int i = 0; i < attempts; ++i) {
    const auto offset = next_random(random_) % ((where.size - bytes) / granule) * granule;
    if (where.gaps.take_at(where.begin + offset, bytes)) return where.begin + offset;
  }
  return where.gaps.take_lowest(bytes);
}

}  // namespace memtrace::allocator
