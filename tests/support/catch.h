// Catch2, whichever major the system has: 2.13 is one header, 3 is a library with another one.
// Every test includes this instead of either.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
