// An exception leaves the entry.
#include <stdexcept>

#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *) {
  if (tiny_plugin.struct_size != 0) throw std::runtime_error("no such luck");
  return &tiny_plugin;
}
