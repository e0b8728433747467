// Where this code lies, and the helper programs that were installed with it.
#pragma once

#include <string>

namespace bh {

// The folder of the shared library (or program) that this code is part of; empty if unknown. [any]
std::string own_folder();

// The path of one of our helper programs, by its name; empty where it is not there. Installed, it
// lies in libexec, whose way from the library's folder the build knows; the build tree has the shape
// lib/ beside libexec/. [any]
std::string own_helper(const std::string& name);

}  // namespace bh
