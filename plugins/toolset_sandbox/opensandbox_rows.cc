// The 19 tools of OpenSandbox's MCP server, in its order.
#include "command.h"
#include "create.h"
#include "file_content.h"
#include "file_tree.h"
#include "lifecycle.h"

namespace toolset_sandbox {

namespace {

// A tool for sandboxes that this process knows asks whose call it is, and may connect.
std::vector<const char*> on_known(std::vector<const char*> needs) {
  needs.push_back("host.inspect/1");
  needs.push_back("sandbox.connect/1");
  return needs;
}

}  // namespace

const std::vector<ToolRow>& opensandbox_rows() {
  static const std::vector<ToolRow> kRows = {
      {"sandbox_create", "Create a sandbox",
       "Creates a sandbox and remembers it for further calls. image names what it shows (\"host\": "
       "the programs of this machine); it ends by itself after timeout_seconds. resource takes cpu "
       "(\"500m\", \"2\") and memory (\"512Mi\"); what is asked for is enforced, or the call is "
       "refused. Gives its id, which all other tools take.",
       Effect::adds,
       {"host.inspect/1", "sandbox.create/1", "sandbox.get/1", "sandbox.health/1",
        "sandbox.kill/1", "job.start/1"},
       sandbox_create},
      {"sandbox_connect", "Connect to a sandbox",
       "Makes a sandbox that exists already known to this server, so that the other tools work on "
       "it.",
       Effect::adds, on_known({"sandbox.get/1", "sandbox.health/1"}), sandbox_connect},
      {"sandbox_kill", "End a sandbox",
       "Ends a sandbox and everything that runs in it, and removes what it alone held.",
       Effect::changes, {"host.inspect/1", "sandbox.kill/1"}, sandbox_kill},
      {"sandbox_get_info", "About a sandbox",
       "Tells a sandbox's state, its image, its metadata and when it ends.",
       Effect::reads, {"sandbox.get/1"}, sandbox_get_info},
      {"sandbox_list", "List sandboxes",
       "Lists your sandboxes, the newest first, in pages. filter takes states and metadata that "
       "must match.",
       Effect::reads, {"sandbox.list/1"}, sandbox_list},
      {"sandbox_renew", "Renew a sandbox",
       "Sets the end of a sandbox to timeout_seconds from now.",
       Effect::adds, {"sandbox.renew/1"}, sandbox_renew},
      {"sandbox_get_metrics", "What a sandbox uses",
       "Tells how much CPU and memory a sandbox uses and may use.",
       Effect::reads, on_known({"sandbox.metrics/1"}), sandbox_get_metrics},
      {"sandbox_healthcheck", "Is a sandbox well?",
       "Tells whether a sandbox answers.",
       Effect::reads, on_known({"sandbox.health/1"}), sandbox_healthcheck},
      {"command_run", "Run a command",
       "Runs a shell command in a sandbox and gives its output, line by line, and its exit code; a "
       "command that fails is no error of the tool. With background it is started and its id "
       "given.",
       Effect::changes, on_known({"sandbox.exec/1", "job.start/1"}), command_run},
      {"command_interrupt", "Interrupt a command",
       "Ends a command that is running, by the id that command_run gave.",
       Effect::changes, on_known({"sandbox.interrupt/1"}), command_interrupt},
      {"file_read", "Read a file",
       "Reads a text file. For large ones give range_header (\"bytes=0-65535\").",
       Effect::reads, on_known({"sandbox.read_file/1", "sandbox.file_info/1"}), file_read},
      {"file_write", "Write a file",
       "Writes a text file, in place of one that is there, and makes the folders that it lies in. "
       "mode is the octal number (755).",
       Effect::changes, on_known({"sandbox.write_file/1"}), file_write},
      {"file_delete", "Delete files",
       "Deletes files; one that is not there is no error.",
       Effect::changes, on_known({"sandbox.remove_files/1"}), file_delete},
      {"file_search", "Search for files",
       "Finds files below a folder whose names match a pattern (\"*.py\").",
       Effect::reads, on_known({"sandbox.search_files/1"}), file_search},
      {"file_create_directories", "Create folders",
       "Creates folders, with those that they lie in.",
       Effect::adds, on_known({"sandbox.make_folders/1"}), file_create_directories},
      {"file_delete_directories", "Delete folders",
       "Deletes folders with everything in them; one that is not there is no error.",
       Effect::changes, on_known({"sandbox.remove_folders/1"}), file_delete_directories},
      {"file_move", "Move files",
       "Moves or renames files and folders. Nothing is overwritten.",
       Effect::changes, on_known({"sandbox.move_files/1"}), file_move},
      {"file_replace_contents", "Replace text in files",
       "Replaces a text by another wherever it stands in a file, and tells how often.",
       Effect::changes, on_known({"sandbox.replace_in_files/1"}), file_replace_contents},
      {"sandbox_get_endpoint", "Where a port is",
       "Tells the address at which a port of a sandbox can be reached.",
       Effect::reads, on_known({"sandbox.endpoint/1"}), sandbox_get_endpoint},
  };
  return kRows;
}

}  // namespace toolset_sandbox
