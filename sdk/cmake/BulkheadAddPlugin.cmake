# bulkhead_add_plugin(NAME SOURCES file... MANIFEST plugin.json.in [HELPERS target...] [JSON])
#
# Makes NAME.so, a loadable plugin that exports the entry and nothing else, and lays it with its
# manifest (sha256 and platform filled in after the link) in plugins/NAME/. JSON links the SDK's
# copy of Boost.JSON. HELPERS are programs of the plugin's own; they lie beside the library.

set(BULKHEAD_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")
if(NOT DEFINED BULKHEAD_PLUGIN_OUTPUT_DIR)
  set(BULKHEAD_PLUGIN_OUTPUT_DIR "${CMAKE_BINARY_DIR}/plugins")
endif()

function(bulkhead_add_plugin name)
  cmake_parse_arguments(arg "JSON" "MANIFEST" "SOURCES;HELPERS" ${ARGN})
  if(NOT arg_SOURCES OR NOT arg_MANIFEST)
    message(FATAL_ERROR "bulkhead_add_plugin(${name}): SOURCES and MANIFEST are required")
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bulkhead::abi)
  if(TARGET bulkhead::sdk)
    target_link_libraries(${name} PRIVATE bulkhead::sdk)
  endif()
  if(TARGET bulkhead_flags)
    target_link_libraries(${name} PRIVATE bulkhead_flags)
  endif()
  if(arg_JSON)
    target_link_libraries(${name} PRIVATE bulkhead::sdk_json)
  endif()
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    LIBRARY_OUTPUT_DIRECTORY "${BULKHEAD_PLUGIN_OUTPUT_DIR}/${name}"
    LINK_DEPENDS "${BULKHEAD_CMAKE_DIR}/plugin.map")
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE
    "-Wl,--version-script,${BULKHEAD_CMAKE_DIR}/plugin.map" -Wl,--exclude-libs,ALL)
  if(NOT BH_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DTEMPLATE=${CMAKE_CURRENT_SOURCE_DIR}/${arg_MANIFEST}"
            "-DLIBRARY=$<TARGET_FILE:${name}>" "-DPLATFORM=linux-${CMAKE_SYSTEM_PROCESSOR}"
            "-DVERSION=${PROJECT_VERSION}"
            -P "${BULKHEAD_CMAKE_DIR}/WriteManifest.cmake" VERBATIM)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS
    "${CMAKE_CURRENT_SOURCE_DIR}/${arg_MANIFEST}")
  foreach(helper IN LISTS arg_HELPERS)
    set_target_properties(${helper} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${BULKHEAD_PLUGIN_OUTPUT_DIR}/${name}")
    add_dependencies(${name} ${helper})
  endforeach()
endfunction()
