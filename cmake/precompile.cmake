# weft_precompile(TARGET <header>...): what most files of a target read first, compiled once.  Reading the standard
# library is half of what compiling one file takes.  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without.
function(weft_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  weft_cache_precompiled(${target})
endfunction()

# weft_precompiled_headers(TARGET [LINK <target>...] [INCLUDE <directory>...] [OPTIONS <option>...] HEADERS <header>...): a target
# that is nothing else, for several others that weft_reuse_precompiled(OTHER TARGET).
function(weft_precompiled_headers target)
  cmake_parse_arguments(arg "" "" "LINK;INCLUDE;OPTIONS;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp CONTENT "// Nothing but its headers.\n")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target} PRIVATE weft_options ${arg_LINK})
  target_include_directories(${target} PRIVATE ${arg_INCLUDE})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  weft_precompile(${target} ${arg_HEADERS})
  set_property(GLOBAL PROPERTY ${target}_header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx)
endfunction()

# weft_library_headers(TARGET ...): the same twice, for what the library has at -O2, and as TARGET_cold for its
# weft_cold_files().
function(weft_library_headers target)
  weft_precompiled_headers(${target} ${ARGN})
  if(cold_optimisation)
    weft_precompiled_headers(${target}_cold OPTIONS ${cold_optimisation} ${ARGN})
  endif()
endfunction()

# weft_compile_files(TARGET OPTION HEADERS <source>...): files of a target that have another option, and so other precompiled headers:
# these are for one kind of optimisation.  Only gcc is told of them by name.
function(weft_compile_files target option headers)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${option})
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    get_property(header GLOBAL PROPERTY ${headers}_header)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -Winvalid-pch -include ${header})
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${header}.gch)
    add_dependencies(${target} ${headers})
  endif()
endfunction()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(cold_optimisation -Os)
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug" AND WEFT_SANITIZE)
  set(cold_optimisation -O0)
endif()

# weft_cold_files(TARGET HEADERS <source>...): files that run once, or for people to read: half the code at -Os, in less
# time to compile; with sanitizers in Debug nothing is optimised of them.  HEADERS are weft_library_headers().
function(weft_cold_files target headers)
  if(cold_optimisation)
    weft_compile_files(${target} ${cold_optimisation} ${headers}_cold ${ARGN})
  endif()
endfunction()

function(weft_reuse_precompiled target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
  weft_cache_precompiled(${target})
endfunction()

function(weft_cache_precompiled target)
  if(CCACHE_PROGRAM AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    # ccache keeps what was compiled with such headers only if it is told that their macros and times may differ.  They
    # hold absolute paths: those of another checkout would bring every header in twice.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_DEPEND=1;CCACHE_BASEDIR=;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE_PROGRAM}")
  endif()
endfunction()
