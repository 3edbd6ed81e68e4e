# weft_precompile(TARGET <header>...): what most files of a target read first, compiled once.  Reading the standard
# library is half of what compiling one file takes.  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without.
function(weft_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CCACHE_PROGRAM AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    # ccache keeps what was compiled with such headers only if it is told that their macros and times may differ.  They
    # hold absolute paths: those of another checkout would bring every header in twice.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_DEPEND=1;CCACHE_BASEDIR=;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE_PROGRAM}")
  endif()
endfunction()
