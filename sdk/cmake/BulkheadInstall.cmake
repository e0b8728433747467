# What `cmake --install` gives: headers, library, program, and the CMake and pkg-config packages.
# Each plugin installs itself (BulkheadAddPlugin.cmake). Nothing that is installed names the build
# tree, and all of it may be moved.

include(CMakePackageConfigHelpers)
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/bulkhead")

install(DIRECTORY abi/include/bulkhead host/include/bulkhead sdk/include/bulkhead
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY abi/schemas DESTINATION "${CMAKE_INSTALL_DATADIR}/bulkhead"
        COMPONENT development)
install(DIRECTORY sdk/python/bulkhead DESTINATION "${CMAKE_INSTALL_DATADIR}/bulkhead/python"
        COMPONENT development FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
install(DIRECTORY sdk/rust sdk/go DESTINATION "${CMAKE_INSTALL_DATADIR}/bulkhead" COMPONENT development
        FILES_MATCHING PATTERN "*.rs" PATTERN "*.h" PATTERN "Cargo.*" PATTERN "*.go" PATTERN "go.mod" PATTERN "README.md")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

install(TARGETS bulkhead_abi bulkhead_sdk EXPORT bulkhead)
install(TARGETS bulkhead bulkhead_mcp EXPORT bulkhead
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        NAMELINK_COMPONENT development)
install(EXPORT bulkhead NAMESPACE bulkhead:: FILE bulkheadTargets.cmake
        DESTINATION "${package_dir}" COMPONENT development)
# Apart, since only this one needs Boost.
install(TARGETS bulkhead_sdk_json EXPORT bulkhead_json
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(EXPORT bulkhead_json NAMESPACE bulkhead:: FILE bulkheadJsonTargets.cmake
        DESTINATION "${package_dir}" COMPONENT development)
# The contract suite, apart for the same reason. Its probe is not called by anybody else.
install(TARGETS bulkhead_sdk_contract bulkhead-contract EXPORT bulkhead_contract
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT development)
install(PROGRAMS "$<TARGET_FILE:bulkhead-contract-probe>"
        DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/bulkhead" COMPONENT development)
install(EXPORT bulkhead_contract NAMESPACE bulkhead:: FILE bulkheadContractTargets.cmake
        DESTINATION "${package_dir}" COMPONENT development)
if(TARGET bulkhead_cli)
  install(TARGETS bulkhead_cli DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()

configure_package_config_file("${here}/bulkheadConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/bulkheadConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_LIBDIR)
# The embedding API is not frozen before 1.0: until then a minor may break it.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/bulkheadConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/bulkheadConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/bulkheadConfigVersion.cmake"
              "${here}/BulkheadAddPlugin.cmake" "${here}/WriteManifest.cmake" "${here}/plugin.map"
        DESTINATION "${package_dir}" COMPONENT development)

# The .pc files find the prefix from where they lie, or name it where libdir is outside of it.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH pc_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(name bulkhead bulkhead-abi)
  configure_file("${here}/${name}.pc.in" "${PROJECT_BINARY_DIR}/package/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endforeach()
