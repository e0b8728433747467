#include "cli/verbs.h"

namespace bh::cli {
namespace {

constexpr const char* kPlainExits =
    "  0    done\n"
    "  125  Bulkhead could not do it; stderr says why";

}  // namespace

const std::vector<VerbText>& verb_texts() {
  static const std::vector<VerbText> kTexts = {
      {Verb::kDoctor, "doctor", "doctor [--json] [FLAGS]",
       "Check whether commands can run in isolation here, and with which defaults.",
       "Prints the version, the config file, the data root, the defaults, the plugins, the\n"
       "backends, and what the backend would enforce for a command that asks for nothing special.",
       "  bulkhead doctor\n"
       "  bulkhead doctor --json | jq .ready",
       "  0    commands can run in isolation\n"
       "  1    they cannot; the last line names the next step\n"
       "  125  Bulkhead could not look; stderr says why"},
      {Verb::kPlugins, "plugins", "plugins [--json]",
       "List the plugins: where they were found, what they provide, why one was refused.", "",
       "  bulkhead plugins\n"
       "  bulkhead plugins --plugin-path ./build/plugins --json",
       kPlainExits},
      {Verb::kTools, "tools", "tools [--json] [--persona NAME]",
       "List the tools that can be called.", "",
       "  bulkhead tools\n  bulkhead tools --json | jq '.tools[].name'", kPlainExits},
      {Verb::kCall, "call", "call TOOL [JSON | - | @FILE] [FLAGS]",
       "Call one tool and print its answer.",
       "The tool's answer goes to stdout. Output that it streams while it works goes to stderr as\n"
       "it appears; a stream of data (a download) goes to stdout, and the answer to stderr "
       "instead.\n"
       "With --json the whole result is printed as one JSON value.",
       "  bulkhead call sandbox_create '{\"image\": \"host\"}'\n"
       "  bulkhead call command_run @arguments.json --json",
       "  0    the tool succeeded\n"
       "  1    the tool ran and says that it failed\n"
       "  124  the time limit ended it\n"
       "  125  Bulkhead could not call it; stderr says why\n"
       "  128+n  signal n ended it"},
      {Verb::kRun, "run", "run [FLAGS] -- CMD [ARG]...", "Run a command in isolation.",
       "Stdin, stdout and stderr pass through as they are; so do SIGINT, SIGTERM, SIGHUP, "
       "SIGQUIT,\n"
       "SIGUSR1 and SIGUSR2. A second SIGINT ends the command whatever it does about the first.\n"
       "HOME, /tmp and the workspace are kept for the persona's next command.",
       "  bulkhead run -- python3 -c 'print(6 * 7)'\n"
       "  bulkhead run --net unrestricted --timeout 60 -- pip download requests\n"
       "  tar c src | bulkhead run --workspace ./out -- tar x",
       "  the command's own (127: there is no such program, 126: it cannot be run), and:\n"
       "  124  the time limit ended it\n"
       "  125  Bulkhead could not run it; stderr says why\n"
       "  128+n  signal n ended it (137: the memory or output limit, said on stderr; 141: nobody\n"
       "         reads stdout any more)"},
      {Verb::kMcp, "mcp", "mcp [--persona NAME] [--workspace DIR] [FLAGS]",
       "Serve the tools over MCP on stdin and stdout.",
       "Meant for the config of an MCP client, which starts it and ends it by closing stdin.",
       "  {\"mcpServers\": {\"bulkhead\": {\"command\": \"bulkhead\",\n"
       "    \"args\": [\"mcp\", \"--workspace\", \"/srv/project\"]}}}",
       "  0    the client closed stdin\n"
       "  125  Bulkhead could not start; stderr says why"},
      {Verb::kImage, "image",
       "image import PATH|- | list | rm NAME | inspect NAME | build agent-session [FLAGS]",
       "Keep the images that sandboxes can start from.",
       "import takes a folder, an OCI layout, what `docker save` writes, or a tar of a root file\n"
       "system, in any usual compression. A confined program unpacks it once; devices, setuid bits\n"
       "and file capabilities stay behind.\n"
       "build makes a Debian with git, curl, wget, jq, vim, unzip, ssh, make, Python and Node, from\n"
       "the mirror that this machine's apt uses; as root. The image works without a network.",
       "  bulkhead image import debian.tar.xz --name debian\n"
       "  docker save alpine | bulkhead image import -\n"
       "  bulkhead image build agent-session --suite bookworm\n"
       "  bulkhead run --image agent-session -- node --version",
       kPlainExits},
      {Verb::kVersion, "version", "version [--json]", "Print the version.", "",
       "  bulkhead version", kPlainExits},
  };
  return kTexts;
}

std::string short_help() {
  std::string text =
      "bulkhead runs the tool calls of AI agents in isolation.\n\n"
      "  bulkhead doctor            can commands run in isolation here?\n"
      "  bulkhead run -- CMD ...    run a command\n"
      "  bulkhead tools             list the tools\n"
      "  bulkhead call TOOL JSON    call one\n"
      "  bulkhead mcp               serve them to an MCP client\n"
      "  bulkhead image             keep images that sandboxes can start from\n"
      "  bulkhead plugins           list the plugins\n\n"
      "`bulkhead --help` and `bulkhead VERB --help` say more, with examples.\n";
  return text;
}

}  // namespace bh::cli
