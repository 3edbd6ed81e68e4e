# A project that has weft as a subdirectory: a program finds weft's headers and is linked with what weft says, and the
# project's own settings stay as they were.  The objects of weft come from the build that is tested; with ALL=ON they
# are compiled again, which takes minutes.
# cmake -DBUILD=... -DSOURCE=... -DCXX=... -DCC=... -DFLAGS=... -DLLVM=ON|OFF -DXBYAK=ON|OFF -DALL=ON|OFF -P ...
set(SCRATCH ${BUILD}/subdirectory_test)
file(REMOVE_RECURSE ${SCRATCH})
include(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake)

file(WRITE ${SCRATCH}/source/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C CXX)
add_subdirectory(${SOURCE} weft)
if(CMAKE_CXX_STANDARD OR CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  message(FATAL_ERROR \"weft changed the settings of its parent\")
endif()
if(NOT TARGET weft::weft OR TARGET weft_bench OR TARGET weft_tests_engine)
  message(FATAL_ERROR \"expected the library and no tests or benchmarks\")
endif()
add_executable(quick_look ${SOURCE}/examples/quick_look.cpp)
target_link_libraries(quick_look PRIVATE weft::weft)
")
set(launcher "")
if(NOT ALL)
  set(script ${SCRATCH}/compiled_before)
  file(WRITE ${script} "#!/bin/sh\nexec '${CMAKE_CURRENT_LIST_DIR}/compiled_before.sh' '${BUILD}' \"$@\"\n")
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(launcher -DCMAKE_CXX_COMPILER_LAUNCHER=${script})
endif()
run(${CMAKE_COMMAND} -S ${SCRATCH}/source -B ${SCRATCH}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_C_COMPILER=${CC} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=${FLAGS}" -DWEFT_LLVM=${LLVM} -DWEFT_XBYAK=${XBYAK}
  ${launcher})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target quick_look)
run(${CMAKE_COMMAND} -E env WEFT_CACHE=off WEFT_TUNE=off ${SCRATCH}/build/quick_look)
