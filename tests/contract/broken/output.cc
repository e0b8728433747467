// Bytes that are lost, mixed, changed, held back or hoarded.
#include <cstring>
#include <string>

#include "fault.h"

namespace broken {

namespace {

bh_status loses_last(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  std::string last;
  int32_t of = 0;
  bent.emit = [&](int32_t stream, std::string_view bytes) {
    const bh_status st = last.empty() ? bh_status{BH_OK} : bent.pass(of, last);
    last = bytes;
    of = stream;
    return st;
  };
  return exec_good(box, bent, what, out);
}
bh_status one_stream(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.emit = [&](int32_t, std::string_view bytes) { return bent.pass(BH_STREAM_STDOUT, bytes); };
  return exec_good(box, bent, what, out);
}
bh_status seven_bits(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.emit = [&](int32_t stream, std::string_view bytes) {
    std::string changed(bytes);
    for (char& c : changed) c = static_cast<char>(c & 0x7f);
    return bent.pass(stream, changed);
  };
  return exec_good(box, bent, what, out);
}
// All at the end, from memory.
bh_status hoards(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  std::string kept[3];
  bent.emit = [&](int32_t stream, std::string_view bytes) {
    kept[stream] += bytes;
    return bh_status{BH_OK};
  };
  const bh_status st = exec_good(box, bent, what, out);
  for (const int32_t stream : {1, 2}) {
    if (st == BH_OK && !kept[stream].empty()) (void)bent.pass(stream, kept[stream]);
  }
  return st;
}
// Reads all of the input before the command gets any; says nothing of a closed stdin.
bh_status hoards_input(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  static thread_local char buffer[65536];
  size_t got = 1;
  while ((what->flags & BH_EXEC_INPUT) != 0 && got != 0) {
    if (call->api->receive(call, buffer, sizeof buffer, &got) != BH_OK) break;
  }
  bh_exec bare = *what;
  bare.flags = 0;
  return good().exec(box, call, &bare, out);
}
// A line of somebody else's comes first.
bh_status others_input(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  std::vector<bh_str> argv;
  for (const char* word : {"/bin/sh", "-c", "echo a line of the host | \"$@\"", "sh"}) {
    argv.push_back({word, std::strlen(word)});
  }
  argv.insert(argv.end(), what->argv, what->argv + what->argc);
  bh_exec changed = *what;
  changed.argv = argv.data();
  changed.argc = argv.size();
  return good().exec(box, call, &changed, out);
}
bh_status goes_on(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.deaf = true;
  bent.emit = [&](int32_t stream, std::string_view bytes) {
    (void)bent.pass(stream, bytes);
    return bh_status{BH_OK};
  };
  return exec_good(box, bent, what, out);
}

}  // namespace

std::vector<Fault> output() {
  return {
      {"loses-last", [](bh_isolation& t) { t.exec = &loses_last; }},
      {"one-stream", [](bh_isolation& t) { t.exec = &one_stream; }},
      {"seven-bits", [](bh_isolation& t) { t.exec = &seven_bits; }},
      {"hoards-output", [](bh_isolation& t) { t.exec = &hoards; }},
      {"hoards-input", [](bh_isolation& t) { t.exec = &hoards_input; }},
      {"others-input", [](bh_isolation& t) { t.exec = &others_input; }},
      {"deaf-to-reader", [](bh_isolation& t) { t.exec = &goes_on; }},
  };
}

}  // namespace broken
