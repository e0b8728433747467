// The tools under the names that Nous documents. All but sandbox_execute work on the persona's own
// sandbox, which the first call makes.
#include "execute.h"
#include "exec.h"
#include "nous_files.h"
#include "own_sandbox.h"
#include "packages.h"

namespace toolset_sandbox {

namespace {

constexpr char kExecuteInput[] = R"({
  "type":"object","additionalProperties":false,"required":["code"],
  "properties":{
    "code":{"type":"string","description":"The program's text."},
    "language":{"type":"string","enum":["python","javascript","bash"],"default":"python"},
    "libraries":{"type":"array","items":{"type":"string"},"description":"Packages to install first (Python, JavaScript)."},
    "session_id":{"type":"string","description":"The id of a sandbox that exists; without it, your own."},
    "timeout_seconds":{"type":"integer","minimum":1,"maximum":86400,"description":"Stops it after that time."}
  }
})";

// Other words for the languages, and those that are refused with the reason.
constexpr char kExecuteAccepts[] = R"({
  "type":"object","additionalProperties":false,"required":["code"],
  "properties":{
    "code":{"type":"string"},
    "language":{"type":"string","enum":["python","python3","py","javascript","js","node","bash","sh","shell","go","rust"]},
    "session_id":{"type":["string","null"]},
    "libraries":{"type":["array","null","string"],"items":{"type":"string"}},
    "timeout_seconds":{"type":["number","null","string"],"exclusiveMinimum":0,"maximum":86400}
  }
})";

constexpr char kFilesInput[] = R"({
  "type":"object","additionalProperties":false,"required":["operation"],
  "properties":{
    "operation":{"type":"string","enum":["list","read","write","append","delete"]},
    "path":{"type":"string","default":"","description":"From the workspace, or absolute."},
    "content":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"description":"Of write and append."}
  }
})";

constexpr char kFilesOutput[] = R"({
  "type":"object","required":["ok"],
  "properties":{
    "ok":{"type":"boolean"},
    "files":{"type":"array","items":{"type":"object","required":["name","path","is_dir","size"],"properties":{
      "name":{"type":"string"},"path":{"type":"string"},"is_dir":{"type":"boolean"},"size":{"type":"integer"}}}},
    "content":{"type":"string"},"truncated":{"type":"boolean"},"total_bytes":{"type":"integer"},
    "content_type":{"type":"string"},"content_base64":{"type":"string"},"size":{"type":"integer"},
    "path":{"type":"string"},"stdout":{"type":"string"},"error":{"type":"string"}
  }
})";

constexpr char kInstallInput[] = R"({
  "type":"object","additionalProperties":false,"required":["packages"],
  "properties":{
    "packages":{"type":"array","items":{"type":"string"},"description":"As the manager names them, or paths in the sandbox (\"./name.whl\")."},
    "manager":{"type":"string","default":"pip","description":"pip or npm."}
  }
})";

constexpr char kInstallOutput[] = R"({
  "type":"object","required":["ok","installed","output"],
  "properties":{"ok":{"type":"boolean"},"installed":{"type":"array","items":{"type":"string"}},"output":{"type":"string"}}
})";

constexpr char kResetInput[] = R"({
  "type":"object","additionalProperties":false,
  "properties":{"level":{"type":"string","enum":["files","packages","full"],"default":"files"}}
})";

constexpr char kResetOutput[] = R"({
  "type":"object","required":["ok","level"],
  "properties":{"ok":{"type":"boolean"},"level":{"type":"string"},"error":{"type":"string"}}
})";

constexpr char kInfoInput[] = R"({"type":"object","additionalProperties":false,"properties":{}})";

constexpr char kInfoOutput[] = R"({
  "type":"object","required":["id","persona","files","packages","limits","expires_at"],
  "properties":{
    "id":{"type":"string"},"persona":{"type":"string"},
    "files":{"type":"array","items":{"type":"object"}},
    "packages":{"type":"array","items":{"type":"object"}},
    "limits":{"type":"object"},"expires_at":{"type":["string","null"]}
  }
})";

}  // namespace

const std::vector<OwnToolRow>& alias_rows() {
  static const std::vector<OwnToolRow> kRows = {
      {{"sandbox_execute", "Run code",
        "Runs a piece of code in the sandbox and gives what it printed. Files in the workspace, in "
        "HOME and in /tmp are kept for the next call; variables are not. Answers with stdout, then "
        "\"[stderr] ...\", then \"[exit code: N]\" if that is not 0.",
        Effect::changes, {"sandbox.exec/1", "host.inspect/1"}, sandbox_execute},
       kExecuteInput, kExecuteAccepts, kOutcomeSchema},
      {{"sandbox_files", "Files of the sandbox",
        "Lists, reads, writes, appends to and deletes files of your sandbox. Of a text, the first "
        "8192 bytes are read; images come as base64.",
        Effect::changes,
        {"sandbox.list_files/1", "sandbox.read_file/1", "sandbox.write_file/1",
         "sandbox.remove_files/1", "sandbox.remove_folders/1"},
        sandbox_files},
       kFilesInput, nullptr, kFilesOutput},
      {{"sandbox_install", "Install packages",
        "Installs packages with pip or npm, for your sandbox alone; sandbox_execute finds them.",
        Effect::changes, {"sandbox.exec/1", "host.inspect/1"}, sandbox_install},
       kInstallInput, nullptr, kInstallOutput},
      {{"sandbox_reset", "Reset the sandbox",
        "Removes what is in your sandbox: files (everything in the workspace), packages (what "
        "sandbox_install installed) or full (both, HOME and /tmp, and every process).",
        Effect::changes, {"host.inspect/1", "sandbox.exec/1", "sandbox.kill/1"}, sandbox_reset},
       kResetInput, nullptr, kResetOutput},
      {{"sandbox_info", "About your sandbox",
        "Tells your sandbox's id, the files of its workspace, its packages and its limits.",
        Effect::reads,
        {"sandbox.exec/1", "sandbox.get/1", "sandbox.list_files/1", "host.inspect/1"},
        sandbox_info},
       kInfoInput, nullptr, kInfoOutput},
  };
  return kRows;
}

}  // namespace toolset_sandbox
