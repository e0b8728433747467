// What stands where a plugin left an optional function out.
#pragma once

#include "loader/tables.h"

namespace bh {

void fill_stubs(bh_provider& table);
void fill_stubs(bh_isolation& table);
void fill_stubs(bh_browser& table);
void fill_stubs(bh_filestore& table);
void fill_stubs(bh_toolset& table);

}  // namespace bh
