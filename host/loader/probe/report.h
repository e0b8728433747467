// What the host and its helper bulkhead-probe say to each other. The helper gets the library's path
// as its argument and three files: 1 and 2 are what the plugin prints, 3 is the report, one line a
// step, so that the last line tells where a crash was.
#pragma once

namespace bh::probe {

inline constexpr int kReportFd = 3;
// The helper ends itself after this, should its watcher have gone.
inline constexpr int kOwnLimitSeconds = 30;

// Steps, in order. After `loaded` and `entered` stands the number of bytes printed so far.
inline constexpr char kLoading[] = "loading";
inline constexpr char kLoaded[] = "loaded";
inline constexpr char kEntering[] = "entering";
inline constexpr char kEntered[] = "entered";
inline constexpr char kAsking[] = "asking";
inline constexpr char kDone[] = "done";
// Instead of a step: nothing more to see here, the real load will say it (no library, no entry, an
// entry that fails or throws).
inline constexpr char kPassed[] = "passed";

}  // namespace bh::probe
