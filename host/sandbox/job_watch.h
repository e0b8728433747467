// Waits for a job to go on: for new output, its end, or the end of the process that runs it.
#pragma once

#include <string>

#include "base/fd.h"
#include "core/call.h"
#include "state/data_root.h"
#include "state/process_name.h"

namespace bh {

// One thread's. What happens after it was made is not missed.
class JobWatch {
 public:
  JobWatch(const DataRoot& root, const std::string& job, const ProcessName& owner);

  // Until something may have changed, or `call` has a reason to stop, which is the answer. [blocking]
  bh_status wait(Call& call);

 private:
  Fd changes_;
  Fd owner_;  // readable once it has ended; none where it is this process
};

}  // namespace bh
