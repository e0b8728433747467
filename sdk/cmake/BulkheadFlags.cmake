# The flags of every target of this tree; a third party's plugin gets what it needs from
# bulkhead_add_plugin() alone.

set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the shape of an installed one, so that the program finds its library and
# plugins the same way in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(BULKHEAD_PLUGIN_OUTPUT_DIR "${PROJECT_BINARY_DIR}/plugins")
set(BULKHEAD_INSTALL_PLUGINS ${BH_INSTALL})
set(BULKHEAD_OWN_FLAGS ON) # bulkhead_add_plugin() takes them too, within this tree

find_program(BH_CCACHE ccache)
if(BH_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${BH_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BH_CCACHE}")
endif()

add_library(bulkhead_flags INTERFACE)
target_compile_options(bulkhead_flags INTERFACE -Wall -Wextra -Wshadow -Wundef
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(BH_WARNINGS_AS_ERRORS)
  target_compile_options(bulkhead_flags INTERFACE -Werror)
endif()
if(BH_SANITIZE)
  # Unoptimised: UndefinedBehaviorSanitizer's checks take an optimiser twice as long to compile.
  target_compile_options(bulkhead_flags INTERFACE -fsanitize=${BH_SANITIZE} -fno-omit-frame-pointer
                         -O0 -g1)
  target_link_options(bulkhead_flags INTERFACE -fsanitize=${BH_SANITIZE})
elseif(BH_FUZZ)
  target_compile_options(bulkhead_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(bulkhead_flags INTERFACE -fsanitize=address,undefined)
else()
  # Start-up is a promise: libstdc++ comes along statically, and hidden.
  target_link_options(bulkhead_flags INTERFACE -static-libgcc
                      $<$<LINK_LANGUAGE:CXX>:-static-libstdc++>)
  target_link_options(bulkhead_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  # The C++ library is linked in statically, and most of it is used by nobody: a plugin is half its
  # size without, and what is not there is not in memory either.
  target_link_options(bulkhead_flags INTERFACE -Wl,--gc-sections)
endif()

# Third-party code that is slow to compile under sanitizers and not ours to check.
function(bh_without_sanitizers)
  if(BH_SANITIZE)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
  endif()
endfunction()
