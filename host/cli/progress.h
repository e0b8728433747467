// One line on a terminal while something takes longer than a second; nothing anywhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bh::cli {

class Progress {
 public:
  // `fd` is where people look, stderr; silent when it is no terminal.
  explicit Progress(int fd);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // What is going on from now on; the second starts anew.
  void start(std::string what);
  // More exact words for the same thing, from an event.
  void detail(std::string_view text);
  // Milliseconds until tick() has something to do, -1: never. For poll().
  int wait_ms() const;
  // Draws the line when it is due.
  void tick();
  // Takes the line away, before anything else is written to the terminal.
  void clear();
  // Nothing is going on any more.
  void stop();

 private:
  int fd_;
  bool on_;
  bool shown_ = false;
  std::string what_;
  std::int64_t since_ms_ = 0;
  std::int64_t due_ms_ = 0;
};

// CLOCK_MONOTONIC in milliseconds.
std::int64_t now_ms();

}  // namespace bh::cli
