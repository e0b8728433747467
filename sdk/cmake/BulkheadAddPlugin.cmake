# bulkhead_add_plugin(NAME
#   SOURCES file...            C or C++; the C++ SDK is linked where one of them is C++
#   MANIFEST plugin.json.in    with @PLATFORM@, @file@, @sha256@ and @VERSION@ (the project's)
#   [HELPERS target...]        programs of the plugin's own
#   [JSON]                     links the SDK's copy of Boost.JSON
#   [LIBRARIES target...])     what else it links; static, so that it loads anywhere
#
# Makes NAME.so, a loadable plugin that exports the entry and nothing else, and lays it with its
# manifest (written after the link: it holds the library's hash) and its helpers in
# BULKHEAD_PLUGIN_OUTPUT_DIR/NAME, by default plugins/ in the build tree.
#
# BULKHEAD_PLUGIN_VERSION, a macro, is the project's version: manifest and table must agree.
#
# Installs to <libdir>/bulkhead/plugins/NAME, helpers to <libexecdir>/bulkhead/NAME, unless
# BULKHEAD_INSTALL_PLUGINS is off. A plugin finds its helpers beside its library or at
# BULKHEAD_HELPER_DIR, a macro: the path from the library's folder.

include_guard(GLOBAL)
include(GNUInstallDirs)

# The path from the installed plugin's folder to its helpers', or the absolute one where the two
# install directories do not lie under the same prefix.
function(_bulkhead_helper_dir out name)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBEXECDIR}")
    set(dir "${CMAKE_INSTALL_FULL_LIBEXECDIR}/bulkhead/${name}")
  else()
    file(RELATIVE_PATH dir "/p/${CMAKE_INSTALL_LIBDIR}/bulkhead/plugins/${name}"
         "/p/${CMAKE_INSTALL_LIBEXECDIR}/bulkhead/${name}")
  endif()
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

function(bulkhead_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "JSON" "MANIFEST" "SOURCES;HELPERS;LIBRARIES")
  if(NOT arg_SOURCES OR NOT arg_MANIFEST)
    message(FATAL_ERROR "bulkhead_add_plugin(${name}): SOURCES and MANIFEST are required")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "bulkhead_add_plugin(${name}): not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT PROJECT_VERSION)
    message(FATAL_ERROR "bulkhead_add_plugin(${name}): the manifest needs project(... VERSION ...)")
  endif()
  if(arg_JSON AND NOT TARGET bulkhead::sdk_json)
    message(FATAL_ERROR "bulkhead_add_plugin(${name} JSON): use find_package(bulkhead COMPONENTS json)")
  endif()
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(out "${BULKHEAD_PLUGIN_OUTPUT_DIR}")
  if(NOT out)
    set(out "${CMAKE_BINARY_DIR}/plugins")
  endif()
  string(APPEND out "/${name}")
  get_filename_component(template "${arg_MANIFEST}" ABSOLUTE)

  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bulkhead::abi ${arg_LIBRARIES})
  if("${arg_SOURCES}" MATCHES "\\.(cc|cpp|cxx|C)(;|$)")
    target_link_libraries(${name} PRIVATE bulkhead::sdk)
  endif()
  target_compile_definitions(${name} PRIVATE "BULKHEAD_PLUGIN_VERSION=\"${PROJECT_VERSION}\"")
  if(arg_JSON)
    target_link_libraries(${name} PRIVATE bulkhead::sdk_json)
  endif()
  if(BULKHEAD_OWN_FLAGS)
    target_link_libraries(${name} PRIVATE bulkhead_flags)
  endif()
  # The library is installed as it was linked: its hash is in the manifest.
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}" SUFFIX ".so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON BUILD_WITH_INSTALL_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY "${out}"
    LINK_DEPENDS "${here}/plugin.map;${template}")
  # A unique symbol would be shared with other plugins through the process.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE "-Wl,--version-script,${here}/plugin.map"
                      -Wl,--exclude-libs,ALL)
  # A host reads the library whole before it loads it: a release carries nothing that it does not run.
  target_link_options(${name} PRIVATE "$<$<CONFIG:Release,MinSizeRel>:-Wl,--gc-sections;-s>")
  if(NOT BH_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DTEMPLATE=${template}" "-DLIBRARY=$<TARGET_FILE:${name}>"
            "-DPLATFORM=linux-${CMAKE_SYSTEM_PROCESSOR}" "-DVERSION=${PROJECT_VERSION}"
            -P "${here}/WriteManifest.cmake" VERBATIM)

  foreach(helper IN LISTS arg_HELPERS)
    set_target_properties(${helper} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${out}")
    add_dependencies(${name} ${helper})
  endforeach()
  if(arg_HELPERS)
    _bulkhead_helper_dir(helper_dir ${name})
    target_compile_definitions(${name} PRIVATE "BULKHEAD_HELPER_DIR=\"${helper_dir}\"")
  endif()

  if(DEFINED BULKHEAD_INSTALL_PLUGINS AND NOT BULKHEAD_INSTALL_PLUGINS)
    return()
  endif()
  # As files: installing a target may strip it or rewrite its run path.
  install(FILES "$<TARGET_FILE:${name}>" "${out}/plugin.json"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/bulkhead/plugins/${name}" COMPONENT plugins
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  foreach(helper IN LISTS arg_HELPERS)
    install(PROGRAMS "$<TARGET_FILE:${helper}>"
            DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/bulkhead/${name}" COMPONENT plugins)
  endforeach()
endfunction()
