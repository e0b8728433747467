// The forms of the names that plugins bring along. Sane names keep reports readable, paths safe and
// SQL, JSON and shells out of trouble.
#pragma once

#include <string_view>

namespace bh {

// "org.example.echo": two or more parts of [a-z0-9_-], 128 bytes at most.
bool is_plugin_id(std::string_view text);

// "bwrap": [a-z0-9][a-z0-9_-]*, 63 bytes at most.
bool is_provider_id(std::string_view text);

// "bh.isolation/1": dotted name, slash, number without leading zero; 128 bytes at most.
bool is_interface_id(std::string_view text);

// "linux-x86_64"
bool is_platform(std::string_view text);

// One line of text for people: 1 to 256 bytes of UTF-8 without control characters.
bool is_line(std::string_view text);

// A file below the folder: relative, no empty part, "." or ".."; a leading "./" is not part of it.
bool is_relative_file(std::string_view text);

// The platform this host was built for.
std::string_view own_platform();

}  // namespace bh
