// Whole texts to stdout and stderr, and whether colours may be used there. What streams goes
// through outlet.h instead.
#pragma once

#include <string>
#include <string_view>

namespace bh::cli {

// To stdout. False when it could not be written; the reason was then said on stderr.
bool print(std::string_view text);

// To stderr, as far as that works: nobody is left to hear about a failure there.
void complain(std::string_view text);

// Writes all of it, whatever write(2) takes at a time. 0, or errno.
int write_all(int fd, std::string_view text);

enum class Paint { kNone, kGood, kWarn, kBad, kDim, kBold };

// Wraps text in colour codes, or does not: only a terminal gets them, NO_COLOR turns them off.
class Palette {
 public:
  explicit Palette(bool on) : on_(on) {}
  static Palette for_fd(int fd);
  std::string operator()(Paint paint, std::string_view text) const;
  bool on() const { return on_; }

 private:
  bool on_;
};

// Columns of the terminal at `fd`, or 0 where it is none: then nothing is cut.
std::size_t columns_of(int fd);

}  // namespace bh::cli
