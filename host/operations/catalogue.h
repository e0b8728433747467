// The list of operations: one for the process, built on first use. Each noun's file adds its own.
#pragma once

#include <functional>

#include "core/operation.h"

namespace bh {

// All operations. Never freed: requests may outlive every runtime. [any]
const Catalogue& catalogue();

// What a noun's file calls to add one. A faulty schema of ours is a bug that the first test meets.
using AddOperation = std::function<void(OperationSpec)>;

void add_exec_operations(const AddOperation& add);
void add_files_operations(const AddOperation& add);
void add_files_transfer_operations(const AddOperation& add);
void add_host_operations(const AddOperation& add);
void add_image_operations(const AddOperation& add);
void add_interrupt_operations(const AddOperation& add);
void add_job_operations(const AddOperation& add);
void add_plugin_operations(const AddOperation& add);
void add_sandbox_operations(const AddOperation& add);
void add_sandbox_file_operations(const AddOperation& add);
void add_sandbox_change_operations(const AddOperation& add);
void add_sandbox_state_operations(const AddOperation& add);
void add_tool_operations(const AddOperation& add);

// abi/schemas/isolation_profile.json without what only the host decides (persona, hide).
const std::string& wished_profile_schema();
// Its member "limits".
const std::string& limits_schema();

}  // namespace bh
