// bulkhead-process-launch: the helper program of isolation_process. No wall; it runs the command as it
// is, in the control groups that the host names.
#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/isolation/launch_here.hpp>

using namespace bulkhead::sdk::isolation;

int main(int argc, char** argv) {
  auto join_groups = [](std::vector<Fd>& doors, InitFds& init) {
    for (Fd& door : doors) init.groups.push_back(door.release());
    return true;
  };
  return launch_here(argc, argv, join_groups, &serve_files);
}
