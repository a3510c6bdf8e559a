// SPDX-License-Identifier: Apache-2.0
//
// Elements of workspace that factorisations ask for. Unverified: what LAPACK's routines of the same
// names recommend for blocks of 32 columns, cuSOLVER documenting none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memtrace::simulator::cusolver {

inline constexpr std::int64_t block = 32;  // columns worked on at once

// Cholesky, LU, QR, and products with Q: a block of columns.
[[nodiscard]] constexpr std::int64_t panel(std::int64_t columns) {
  return std::max<std::int64_t>(1, columns) * block;
}

// Symmetric eigenvalues by divide and conquer, and by Jacobi's method.
[[nodiscard]] constexpr std::int64_t eigenvalues(std::int64_t n) {
  return 1 + 6 * n + 2 * n * n;
}

// Eigenvalues of a general matrix, with vectors.
[[nodiscard]] constexpr std::int64_t general_eigenvalues(std::int64_t n) {
  return (2 + block) * std::max<std::int64_t>(1, n);
}

[[nodiscard]] constexpr std::int64_t singular_values(std::int64_t m, std::int64_t n) {
  const std::int64_t smaller = std::min(m, n);
  const std::int64_t larger = std::max(m, n);
  return std::max<std::int64_t>(1, 3 * smaller + larger + smaller * block);
}

// One-sided Jacobi keeps a copy of the matrix.
[[nodiscard]] constexpr std::int64_t jacobi_singular_values(std::int64_t m, std::int64_t n) {
  return singular_values(m, n) + m * n;
}

}  // namespace memtrace::simulator::cusolver
