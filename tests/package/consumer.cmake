# run(COMMAND...) and test_consumers(PREFIX): programs that know nothing but an installed weft are built and run.
# Reads SOURCE, CXX, CC, FLAGS and SCRATCH.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Through find_package(): C++ and C, the static and the shared library.
function(test_find_package prefix)
  set(build ${SCRATCH}/find_package)
  run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${build} -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC}
    "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_C_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${build})
  foreach(program IN ITEMS quick_look_static quick_look_shared errors_static errors_shared c_static c_shared c_api
      embedding/brighten)
    run(${CMAKE_COMMAND} -E env WEFT_CACHE=off WEFT_TUNE=off ${build}/${program})
  endforeach()
  run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer_c -B ${build}_c -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_C_COMPILER=${CC} "-DCMAKE_C_FLAGS=${FLAGS}")
  run(${CMAKE_COMMAND} --build ${build}_c)
  run(${build}_c/c_alone)
endfunction()

# Through pkg-config and the C compiler alone: the shared library, and the static one with all that it needs.
function(test_pkg_config prefix)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message("there is no pkg-config: its file is not tried")
    return()
  endif()
  file(GLOB pc ${prefix}/lib*/pkgconfig/weft.pc ${prefix}/lib/*/pkgconfig/weft.pc)
  cmake_path(GET pc PARENT_PATH folder)
  cmake_path(GET folder PARENT_PATH libraries)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  foreach(form IN ITEMS shared static)
    set(wanted --cflags --libs)
    set(first "")
    if(form STREQUAL "static")
      list(APPEND wanted --static)
      file(COPY ${libraries}/libweft.a DESTINATION ${SCRATCH}/only_static)
      set(first -L${SCRATCH}/only_static)
    endif()
    run(${PKG_CONFIG} ${wanted} weft)
    string(STRIP "${output}" output)
    separate_arguments(arguments UNIX_COMMAND "${output}")
    run(${CC} ${flags} ${SOURCE}/tests/embed/example.c -o ${SCRATCH}/pc_${form} ${first} ${arguments})
    run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${SCRATCH}/pc_${form})
  endforeach()
endfunction()

function(test_consumers prefix)
  test_find_package(${prefix})
  test_pkg_config(${prefix})
endfunction()
