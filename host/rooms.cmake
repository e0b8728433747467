# What single rooms need beyond the common: third-party libraries and units apart.

# loader: SHA-256 comes from libcrypto, statically: two object files of it, and no start-up cost.
find_package(OpenSSL REQUIRED)
find_library(BH_CRYPTO_STATIC NAMES libcrypto.a)
if(NOT BH_CRYPTO_STATIC)
  set(BH_CRYPTO_STATIC OpenSSL::Crypto)
endif()
target_link_libraries(bulkhead_rooms PUBLIC ${BH_CRYPTO_STATIC})
file(RELATIVE_PATH bh_libexec_from_lib "${CMAKE_INSTALL_FULL_LIBDIR}"
     "${CMAKE_INSTALL_FULL_LIBEXECDIR}/bulkhead")
target_compile_definitions(bulkhead_rooms PRIVATE BH_LIBEXEC_FROM_LIB="${bh_libexec_from_lib}")

# state: SQLite, statically and without its names: no other copy in the process can be mixed up with it.
find_package(SQLite3 REQUIRED)
find_library(BH_SQLITE_STATIC NAMES libsqlite3.a)
if(NOT BH_SQLITE_STATIC)
  set(BH_SQLITE_STATIC SQLite::SQLite3)
endif()
target_link_libraries(bulkhead_rooms PUBLIC ${BH_SQLITE_STATIC} m)

# The helper that tries foreign plugins out in a process of its own.
add_executable(bulkhead_probe loader/probe/main.cc)
target_compile_features(bulkhead_probe PRIVATE cxx_std_20)
target_include_directories(bulkhead_probe PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bulkhead_probe PRIVATE bulkhead_abi bulkhead_flags ${CMAKE_DL_LIBS})
set_target_properties(bulkhead_probe PROPERTIES OUTPUT_NAME bulkhead-probe
                      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/bulkhead")
cmake_language(DEFER CALL add_dependencies bulkhead bulkhead_probe)
if(BH_INSTALL)
  install(TARGETS bulkhead_probe RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/bulkhead)
endif()

# images: the helper that unpacks them. libarchive is its alone; what it needs of base comes along.
find_path(BH_ARCHIVE_INCLUDE archive.h REQUIRED)
find_library(BH_ARCHIVE NAMES archive REQUIRED)
find_path(BH_WORKER_SECCOMP_INCLUDE seccomp.h REQUIRED)
find_library(BH_WORKER_SECCOMP NAMES libseccomp.a seccomp REQUIRED)
file(GLOB bh_unpack_sources CONFIGURE_DEPENDS images/worker/*.cc)
list(FILTER bh_unpack_sources EXCLUDE REGEX "/main\\.cc$")
add_library(bulkhead_unpack_objects OBJECT ${bh_unpack_sources})
target_compile_features(bulkhead_unpack_objects PUBLIC cxx_std_20)
target_include_directories(bulkhead_unpack_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(bulkhead_unpack_objects SYSTEM PRIVATE ${BH_ARCHIVE_INCLUDE}
                           ${BH_WORKER_SECCOMP_INCLUDE})
target_link_libraries(bulkhead_unpack_objects PUBLIC bulkhead_abi bulkhead_sdk bulkhead_flags bulkhead_sdk_json
                      tl::expected ${BH_ARCHIVE} ${BH_WORKER_SECCOMP} ${BH_CRYPTO_STATIC})
add_executable(bulkhead_unpack images/worker/main.cc base/error.cc base/json.cc base/utf8.cc)
target_link_libraries(bulkhead_unpack PRIVATE bulkhead_unpack_objects)
# libarchive has a libcrypto of its own: none of ours is to stand in for it.
target_link_options(bulkhead_unpack PRIVATE -Wl,--exclude-libs,libcrypto.a)
set_target_properties(bulkhead_unpack PROPERTIES OUTPUT_NAME bulkhead-unpack
                      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/bulkhead")
cmake_language(DEFER CALL add_dependencies bulkhead bulkhead_unpack)
if(BH_INSTALL)
  install(TARGETS bulkhead_unpack RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/bulkhead)
endif()

# core/patterns: what needs RE2, as a companion that is loaded with the first pattern. Debian's static
# RE2 is not position independent, and the shared one would cost every start.
find_path(BH_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(BH_RE2 NAMES re2 REQUIRED)
add_library(bulkhead_patterns MODULE core/patterns/patterns.cc)
target_compile_features(bulkhead_patterns PRIVATE cxx_std_20)
target_include_directories(bulkhead_patterns PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(bulkhead_patterns SYSTEM PRIVATE ${BH_RE2_INCLUDE})
# Not the flags of the rest: it shares RE2's libstdc++, and is not ours to sanitize.
target_compile_options(bulkhead_patterns PRIVATE -Wall -Wextra)
target_link_libraries(bulkhead_patterns PRIVATE ${BH_RE2})
if(BH_INSTALL)
  install(TARGETS bulkhead_patterns LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bulkhead)
endif()
cmake_language(DEFER CALL add_dependencies bulkhead bulkhead_patterns)
cmake_language(DEFER CALL add_dependencies bulkhead_inside bulkhead_patterns)

# cli/parse.cc is CLI11, which takes a sanitizer most of a minute.
bh_without_sanitizers(cli/parse.cc)
# spdlog header-only with its own fmt, in one unit: Debian has no static one.
bh_without_sanitizers(core/log_file.cc)

# operations: the profile's schema has one home, abi/schemas, and comes along as text.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${PROJECT_SOURCE_DIR}/abi/schemas/isolation_profile.json")
file(READ "${PROJECT_SOURCE_DIR}/abi/schemas/isolation_profile.json" BH_ISOLATION_PROFILE)
configure_file(operations/isolation_profile_text.h.in
               "${CMAKE_CURRENT_BINARY_DIR}/operations/isolation_profile_text.h" @ONLY)
target_include_directories(bulkhead_rooms PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
