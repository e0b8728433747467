// What OpenSandbox's tools lack.
#include "exec.h"
#include "extra_files.h"
#include "run.h"

namespace toolset_sandbox {

namespace {

constexpr char kRunInput[] = R"({
  "type":"object","additionalProperties":false,"required":["argv"],
  "properties":{
    "argv":{"type":"array","minItems":1,"items":{"type":"string"},"description":"[\"ls\", \"-l\"]"},
    "cwd":{"type":"string","description":"Absolute; without it, the workspace."},
    "env":{"type":"object","additionalProperties":{"type":"string"}},
    "input":{"type":"string","description":"What it reads on stdin."},
    "timeout_seconds":{"type":"integer","minimum":1,"maximum":86400,"description":"Stops it after that time."},
    "stream":{"type":"boolean","description":"Also gives the output as it comes."},
    "sandbox_id":{"type":"string","description":"A sandbox that exists; without it, your own."}
  }
})";

// argv may come as the JSON text of the list, and absent things as null.
constexpr char kRunAccepts[] = R"({
  "type":"object","additionalProperties":false,"required":["argv"],
  "properties":{
    "argv":{"type":["array","string"],"minItems":1,"minLength":1,"items":{"type":"string"}},
    "cwd":{"type":["string","null"]},
    "env":{"type":["object","null","string"],"additionalProperties":{"type":"string"}},
    "input":{"type":["string","null"]},
    "timeout_seconds":{"type":["number","null","string"],"exclusiveMinimum":0,"maximum":86400},
    "stream":{"type":["boolean","null","string"]},
    "sandbox_id":{"type":["string","null"]}
  }
})";

constexpr char kListInput[] = R"({
  "type":"object","additionalProperties":false,"required":["sandbox_id","path"],
  "properties":{
    "sandbox_id":{"type":"string"},
    "path":{"type":"string"},
    "depth":{"type":"integer","default":1,"minimum":1,"maximum":64},
    "connect_if_missing":{"type":"boolean","default":false}
  }
})";

constexpr char kListOutput[] = R"({
  "type":"object","required":["result"],
  "properties":{"result":{"type":"array","items":{"type":"object"}}}
})";

constexpr char kUploadInput[] = R"({
  "type":"object","additionalProperties":false,"required":["sandbox_id","path"],
  "properties":{
    "sandbox_id":{"type":"string"},
    "path":{"type":"string"},
    "mode":{"type":"integer","default":644,"description":"The octal number."},
    "connect_if_missing":{"type":"boolean","default":false}
  }
})";

constexpr char kUploadOutput[] = R"({
  "type":"object","required":["path","size"],
  "properties":{"path":{"type":"string"},"size":{"type":"integer"}}
})";

constexpr char kDownloadInput[] = R"({
  "type":"object","additionalProperties":false,"required":["sandbox_id","path"],
  "properties":{
    "sandbox_id":{"type":"string"},
    "path":{"type":"string"},
    "connect_if_missing":{"type":"boolean","default":false}
  }
})";

}  // namespace

const std::vector<OwnToolRow>& extra_rows() {
  static const std::vector<OwnToolRow> kRows = {
      {{"sandbox_run", "Run a program",
        "Runs one program in the sandbox, without a shell: argv is the program and its arguments. "
        "For pipes and globs use command_run. Files in the workspace, in HOME and in /tmp are kept "
        "for the next call.",
        Effect::changes, {"sandbox.exec/1"}, sandbox_run},
       kRunInput, kRunAccepts, kOutcomeSchema},
      {{"file_list", "List a folder", "Lists what is in a folder of a sandbox.", Effect::reads,
        {"sandbox.list_files/1", "host.inspect/1", "sandbox.connect/1"}, file_list},
       kListInput, nullptr, kListOutput},
      {{"file_upload", "Upload a file",
        "Writes the call's attachment, or what comes as its input, into a file of a sandbox: bytes "
        "of any size and kind.",
        Effect::changes, {"sandbox.write_file/1", "host.inspect/1", "sandbox.connect/1"},
        file_upload},
       kUploadInput, nullptr, kUploadOutput},
      {{"file_download", "Download a file",
        "Streams a file of a sandbox, of any size and kind, to a client that takes data.",
        Effect::reads, {"sandbox.read_file/1", "host.inspect/1", "sandbox.connect/1"},
        file_download},
       kDownloadInput, nullptr, kUploadOutput},
  };
  return kRows;
}

}  // namespace toolset_sandbox
