// Catching what a plugin must not have thrown.
#pragma once

namespace bh {

// Where libgcc is linked statically, the host's unwinder is another copy than the plugin's: an
// exception of the plugin's is carried by its copy, but lands through ours, which aborts the
// process if it has never been used. One exception of our own sets it up. Call it before a plugin's
// code runs inside a try block; cheap after the first time. [any]
inline void prepare_unwinder() {
  static const bool ready = [] {
    try {
      throw true;
    } catch (bool thrown) {
      return thrown;
    }
  }();
  (void)ready;
}

}  // namespace bh
