/* member.h - just enough JSON for this plugin: one member of an object. A plugin with larger
 * arguments takes a JSON library; the ABI does not care which. */
#ifndef ECHO_MEMBER_H
#define ECHO_MEMBER_H

#include <bulkhead/base.h>

/* The value of `name` in the JSON object `json`, as the text that stands there (a string keeps its
 * quotes), or the empty text where there is none. Borrowed from `json`, which the host has checked:
 * it is valid. Names that are written with escapes are not found. */
bh_str json_member(const char *json, size_t size, const char *name);

#endif
