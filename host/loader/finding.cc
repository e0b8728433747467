#include "loader/finding.h"

#include <cerrno>

namespace bh {

const char* name_of(PluginStatus status) {
  switch (status) {
    case PluginStatus::available:
      return "available";
    case PluginStatus::loaded:
      return "loaded";
    case PluginStatus::shadowed:
      return "shadowed";
    case PluginStatus::disabled:
      return "disabled";
    case PluginStatus::refused:
      return "refused";
    case PluginStatus::failed:
      return "failed";
  }
  return "failed";
}

const char* name_of(LoadStage stage) {
  switch (stage) {
    case LoadStage::none:
      return "";
    case LoadStage::manifest:
      return "manifest";
    case LoadStage::permission:
      return "permission";
    case LoadStage::hash:
      return "hash";
    case LoadStage::elf:
      return "elf";
    case LoadStage::abi:
      return "abi";
    case LoadStage::load:
      return "load";
    case LoadStage::entry:
      return "entry";
    case LoadStage::interface:
      return "interface";
    case LoadStage::schema:
      return "schema";
  }
  return "";
}

std::string hint_for_errno(int number, const std::string& path) {
  switch (number) {
    case EACCES:
    case EPERM:
      return "let the user who runs the host read " + path + " and enter the folders above it (chmod o+rX, or a group of his)";
    case ENOENT:
      return "put " + path + " back, or install the plugin again";
    case ENOTDIR:
      return "one part of " + path + " is a file: name a folder instead";
    case ENAMETOOLONG:
      return "give the plugin a place with shorter names than " + path;
    case ELOOP:
      return "follow the links on the way to " + path + " and mend the one that leads in a circle";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n), and start the host again";
    case ENOMEM:
      return "free memory, and start the host again";
    default:
      return "check the disk and the mount that " + path + " lies on";
  }
}

}  // namespace bh
