# weft_precompile(TARGET <header>...): what most files of a target read first, compiled once.  Reading the standard
# library is half of what compiling one file takes.  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without.
function(weft_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  weft_cache_precompiled(${target})
endfunction()

# weft_precompile_for_tests(TARGET LINK <target>... HEADERS <header>...): the same for all test programs that
# weft_reuse_precompiled(PROGRAM TARGET), where TARGET is nothing else.
function(weft_precompile_for_tests target)
  cmake_parse_arguments(arg "" "" "LINK;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp CONTENT "// Nothing but its headers.\n")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  # As programs are compiled, which are to use it.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIE)
  weft_precompile(${target} ${arg_HEADERS})
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
