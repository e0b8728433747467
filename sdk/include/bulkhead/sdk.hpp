// bulkhead/sdk.hpp - what the author of a C++ plugin includes: header-only C++17 over the plugin
// ABI, with no other dependency. sdk/README.md shows a whole plugin.
//
// Everything returns Status or Result<T>; exceptions that leave an author's function are caught at
// the border and become BH_INTERNAL with their text. JSON is the author's choice:
// bulkhead/sdk/json.hpp brings Boost.JSON, and nothing here includes it.
#ifndef BULKHEAD_SDK_HPP
#define BULKHEAD_SDK_HPP

#include "sdk/browser.hpp"
#include "sdk/call.hpp"
#include "sdk/filestore.hpp"
#include "sdk/host.hpp"
#include "sdk/isolation.hpp"
#include "sdk/isolation_extensions.hpp"
#include "sdk/isolation_files.hpp"
#include "sdk/isolation_jobs.hpp"
#include "sdk/operations.hpp"
#include "sdk/plugin.hpp"
#include "sdk/result.hpp"
#include "sdk/text.hpp"
#include "sdk/tool.hpp"
#include "sdk/toolset.hpp"

#endif  // BULKHEAD_SDK_HPP
