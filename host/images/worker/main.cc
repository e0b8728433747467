// bulkhead-unpack OPTIONS: unpacks one image. It is given the archive as 0, a pipe to the host as 1,
// an empty folder as 3, and nothing else; it makes "rootfs" in that folder. What the options are
// says options_of(), what it answers report.h. Not for use by hand.
#include <clocale>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "images/worker/confine.h"
#include "images/worker/image.h"
#include "images/worker/report.h"

#if defined(__SANITIZE_ADDRESS__)
// It looks for leaks from another process, which the walls do not let it make.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return 1; }
#endif

namespace {

using namespace bh;

Result<unpack::Job> options_of(const char* text) {
  auto given = json::parse_object(text);
  if (!given) return tl::unexpected(std::move(given).error());
  unpack::Job job;
  unpack::Limits& most = job.limits;
  most.bytes = json::get_int(*given, "bytes", most.bytes);
  most.entries = json::get_int(*given, "entries", most.entries);
  most.depth = static_cast<int>(json::get_int(*given, "depth", most.depth));
  most.ratio = json::get_int(*given, "ratio", most.ratio);
  most.ratio_from = json::get_int(*given, "ratio_from", most.ratio_from);
  job.reference = json::get_string(*given, "reference");
  job.os = json::get_string(*given, "os", "linux");
  job.arch = json::get_string(*given, "arch");
  job.keep_ids = unpack::can_keep_ids();
  return job;
}

Result<json::object> work(const char* options) {
  auto job = options_of(options);
  if (!job) return tl::unexpected(std::move(job).error());
  auto holds = unpack::confine(
      {unpack::kSourceFd, unpack::kTargetFd, job->limits.bytes, job->keep_ids});
  if (!holds) return tl::unexpected(std::move(holds).error());
  auto done = unpack::unpack_image(unpack::kSourceFd, unpack::kTargetFd, *job);
  if (done) (*done)["walls"] = std::move(*holds);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  struct stat st {};
  if (argc != 2 || ::fstat(unpack::kTargetFd, &st) != 0 || !S_ISDIR(st.st_mode)) {
    std::fputs("bulkhead-unpack: a helper of libbulkhead; not for use by hand\n", stderr);
    return 2;
  }
  // Whatever the embedder left open.
  (void)::syscall(SYS_close_range, unpack::kTargetFd + 1, ~0u, 0);
  // Names are bytes; libarchive converts none where the locale's charset is that of pax headers.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) (void)std::setlocale(LC_CTYPE, "C");
  try {
    auto done = work(argv[1]);
    if (done) {
      unpack::report_done(*done);
    } else {
      unpack::report_error(done.error());
    }
  } catch (const std::bad_alloc&) {
    unpack::report_error({BH_RESOURCE_EXHAUSTED,
                          "the image is refused: it takes more memory to unpack than it may",
                          R"({"reason":"image_too_large","limit":"memory"})"});
  } catch (const std::exception& e) {
    unpack::report_error({BH_INTERNAL, std::string("unpacking failed: ") + e.what(), {}});
  }
  return 0;
}
