# Where CMAKE_UNITY_BUILD is on (the sanitizer flavours, fuzz), files are compiled in batches of eight, each
# target's in the order of its list. BH_FILE_BY_FILE names files, from the root of the tree, that are
# compiled by themselves; the batches of the others stay what they are, so that only those files cost.

set(BH_FILE_BY_FILE "" CACHE STRING "Files that are in no batch")

function(_bh_batches_of target)
  get_target_property(type ${target} TYPE)
  get_target_property(wanted ${target} UNITY_BUILD)
  if(NOT wanted OR NOT type MATCHES "LIBRARY|EXECUTABLE" OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(number 0)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${path}")
    math(EXPR batch "${number} / 8")
    math(EXPR number "${number} + 1")
    if(NOT name IN_LIST BH_FILE_BY_FILE)
      set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${target}_${batch}")
    endif()
  endforeach()
endfunction()

# bh_batches(FOLDER): for the targets of a folder and of those below it, once all are known.
function(bh_batches folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    _bh_batches_of(${target})
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    bh_batches("${below}")
  endforeach()
endfunction()
