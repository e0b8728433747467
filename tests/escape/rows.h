// The rows of the table: what a sandbox must withstand, by the ids that the project's notes on
// sandboxes give them. F: files, P: processes and resources, N: network, A: attacks on the design.
#pragma once

#include <cstddef>

namespace bh_test {

struct RowName {
  const char* id;
  const char* about;
};

inline constexpr RowName kRows[] = {
    {"F1", "nothing is made on the host through a link in the workspace"},
    {"F2", "a protected path that is itself a link"},
    {"F3", "moving a protected folder out of the way"},
    {"F4", "making a protected path that is not there yet; ghost files"},
    {"F5", "dotfiles of HOME that run at the next login"},
    {"F6", "a .git file that points outside"},
    {"F7", "keys and passwords, by whatever path"},
    {"F8", "another hard link to a hidden file"},
    {"F9", "a hard link from a read-only place into the workspace"},
    {"F10", "a secret made after the start"},
    {"F11", "a thousand rules"},
    {"F12", "swapping links between look and use"},
    {"F13", "an artefact that is a link to a secret"},
    {"F14", "artefacts that are pipes, sockets, holes, odd names"},
    {"F15", "mode, owner, times, attributes of read-only files"},
    {"F16", "remounting the root writable"},
    {"F17", "taking a mask off in a nested user namespace"},
    {"F18", "mknod, file handles, the mount API, pivot_root, chroot"},
    {"F19", "devices of the host"},
    {"F20", "the kernel's settings: /proc/sys, sysrq, /sys, release_agent"},
    {"F21", "a mount inside the workspace"},
    {"F22", "/tmp and /dev/shm that work and are limited"},
    {"F23", "predictable files in a shared /tmp"},
    {"F24", "another name for the same folder"},
    {"F25", "a working folder that is gone, a link, or outside"},
    {"F26", "the workspace is / or HOME, or its file system is special"},
    {"F27", "rules that overlap"},
    {"F28", "rules spelled in odd ways"},
    {"F29", "dotfiles and folders that are links"},
    {"F30", "our own pieces below a masked path"},
    {"P1", "fork bomb"},
    {"P2", "memory bomb: pages, shared memory, files in memory"},
    {"P3", "disk fill"},
    {"P4", "double fork"},
    {"P5", "the host is killed while a command runs"},
    {"P6", "a background child holds the output"},
    {"P7", "ignoring every signal; stopped"},
    {"P8", "a flood of output"},
    {"P9", "bytes that are no text"},
    {"P10", "many commands leave nothing"},
    {"P11", "descriptors that the host left open"},
    {"P12", "environment and processes of the host"},
    {"P13", "touching another sandbox's or the host's processes"},
    {"P14", "the host's terminal"},
    {"P15", "programs that run as their owner"},
    {"P16", "time limits at their edges"},
    {"P17", "questions to a person"},
    {"P18", "odd ends: signal, 126, 127, too many arguments"},
    {"P19", "another persona's shared memory, loopback, files"},
    {"P20", "new namespaces"},
    {"P21", "ways around a filter of system calls"},
    {"P22", "calls for the machine's owner"},
    {"P23", "the sandbox's own settings, state and helper"},
    {"P24", "the kernel lacks what the backend needs"},
    {"P25", "inside a container: masked /proc"},
    {"P26", "processor: spinning, real-time, nice"},
    {"P27", "descriptor, thread, pipe and lock bombs"},
    {"P28", "a helper that hangs while it is probed"},
    {"N1", "no network: TCP, UDP, ICMP, raw"},
    {"N14", "abstract sockets"},
    {"N15", "sockets with a path: agents, docker"},
    {"N16", "families of sockets that lead out"},
    {"N22", "loopback, pairs and local sockets inside work"},
    {"A1", "kernel id 0 on a host that root started"},
    {"A2", "another persona's and the host's own data"},
    {"A11", "capabilities"},
    {"A12", "host-side file work that races with the sandbox"},
    {"A13", "images with setuid files and devices"},
    {"A17", "a plugin changed between check and load"},
    {"A18", "the helper that starts commands"},
    {"A19", "nested user namespaces without any filter"},
    {"A20", "calls that deny lists forget"},
    {"A21", "io_uring, userfaultfd, bpf, perf, keys, ptrace"},
    {"A22", "kernel quotas per user"},
    {"A23", "/proc tells of the whole machine"},
    {"A24", "commands of one sandbox and each other's processes"},
    {"A25", "what idle sandboxes hold"},
    {"A26", "an embedder that forks"},
};

// The backends that each row is about. What is not built or does not work here is told as skipped.
inline constexpr const char* kBackends[] = {"ns", "bwrap", "landlock"};

}  // namespace bh_test
