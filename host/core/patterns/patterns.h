// The border between the library and its companion libbulkhead_patterns.so, which holds what needs
// RE2. RE2 is there only as a shared library that drags a second libstdc++ along: 1.4 ms of every
// start, for what most processes never use. So it is loaded with the first pattern.
#pragma once

#include <cstddef>

extern "C" {

struct bulkhead_patterns {
  // A compiled pattern, or null with RE2's text in `error` (cut to `capacity`, NUL-terminated).
  void* (*compile)(const char* text, std::size_t size, char* error, std::size_t capacity);
  // [any] Whether some part of the text matches.
  bool (*matches)(const void* pattern, const char* text, std::size_t size);
  void (*drop)(void* pattern);
};

// Both sides come from one build; the name changes when the struct does.
typedef const bulkhead_patterns* (*bulkhead_patterns_entry)();
#define BULKHEAD_PATTERNS_ENTRY "bulkhead_patterns_v1"
}
