// SPDX-License-Identifier: Apache-2.0
//
// Catch2 under one name: version 2 (Debian 12, Ubuntu 22.04) and version 3 (Ubuntu 24.04).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
