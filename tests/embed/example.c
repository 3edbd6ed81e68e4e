/* Standardises the rows of a table that somebody else owns. */
#include <weft.h>

#include <stdio.h>

int main(void) {
  float table[2][3] = {{1, 2, 3}, {10, 20, 60}};
  const int64_t sizes[] = {2, 3};
  weft_engine* engine = NULL; /* owns the compiled kernels: make one, keep it */
  weft_tensor *x = NULL, *y = NULL;
  if (weft_engine_create(NULL, &engine) != WEFT_OK) goto failed;
  if (weft_tensor_from_blob(table, WEFT_F32, 2, sizes, NULL, NULL, NULL, &x) != WEFT_OK) goto failed;

  const weft_named_tensor names[] = {{"x", x}};
  const char* rows = "(x - mean(x, dims=[1], keepdim=true)) / std(x, dims=[1], keepdim=true)";
  if (weft_eval(engine, rows, 1, names, &y) != WEFT_OK) goto failed;
  const float* result = weft_tensor_data(y);
  for (int i = 0; i < 6; ++i) printf("%g%c", result[i], i % 3 == 2 ? '\n' : ' ');

  weft_tensor_destroy(y);
  weft_tensor_destroy(x);
  weft_engine_destroy(engine);
  return 0;
failed:
  fprintf(stderr, "%s\n", weft_last_error_message());
  return 1;
}
