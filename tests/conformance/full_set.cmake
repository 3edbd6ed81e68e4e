# Replays one file of the full set of recordings, which is no part of the source tree.
if(NOT EXISTS ${DIRECTORY}/${RECORDING}.jsonl)
  message("SKIPPED: the full set of recordings is not at ${DIRECTORY}; only the sample has been replayed")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${DIRECTORY} --backend=${BACKEND} --only=${RECORDING}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${RECORDING} does not conform on ${BACKEND}: ${result}")
endif()
