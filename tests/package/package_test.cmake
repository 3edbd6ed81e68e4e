# Installs the build into a prefix of its own; programs are built that know only that prefix.
# cmake -DBUILD=... -DSOURCE=... -DCXX=... -DCC=... -DFLAGS=... -P package_test.cmake
set(SCRATCH ${BUILD}/package_test)
file(REMOVE_RECURSE ${SCRATCH})
include(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake)

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
test_consumers(${SCRATCH}/prefix)
