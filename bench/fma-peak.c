/* Measures the peak of fused multiply-adds: chains that do not depend on each other, kept in registers.
 *
 *   fma-peak THREADS
 *
 * Prints JSON: the best rate over several vector widths and numbers of chains, since the widest vectors are not the
 * fastest everywhere and too many chains spill.
 */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef float vector16 __attribute__((vector_size(16)));
typedef float vector32 __attribute__((vector_size(32)));
typedef float vector64 __attribute__((vector_size(64)));

/* Written out, so that every chain is a variable of its own whatever the optimizer thinks of arrays and unrolling. */
#define CHAINS_8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define CHAINS_10(F) CHAINS_8(F) F(8) F(9)
#define CHAINS_12(F) CHAINS_10(F) F(10) F(11)
#define CHAINS_16(F) CHAINS_12(F) F(12) F(13) F(14) F(15)
#define CHAINS_20(F) CHAINS_16(F) F(16) F(17) F(18) F(19)

/* The chains begin apart: equal ones would be merged into one. */
#define DECLARE(i) vector chain##i = zero + (float)(i);
#define STEP(i) chain##i = chain##i * x + y;
#define ADD(i) sum += chain##i;

/* x and y are arguments, so that nothing is known about them. The result keeps the work from being removed. */
#define KERNEL(bytes, chains)                                                   \
  static float run_##bytes##_##chains(long steps, float a, float b) {     \
    typedef vector##bytes vector;                                               \
    const vector zero = {0};                                                    \
    const vector x = zero + a, y = zero + b;                                    \
    CHAINS_##chains(DECLARE)                                                    \
    for (long step = 0; step < steps; step++) { CHAINS_##chains(STEP) }         \
    vector sum = zero;                                                          \
    CHAINS_##chains(ADD)                                                        \
    float total = 0;                                                          \
    for (unsigned i = 0; i < sizeof(vector) / sizeof(float); i++) total += sum[i]; \
    return total;                                                               \
  }

#define KERNELS(bytes) \
  KERNEL(bytes, 8) KERNEL(bytes, 10) KERNEL(bytes, 12) KERNEL(bytes, 16) KERNEL(bytes, 20)
KERNELS(16)
KERNELS(32)
KERNELS(64)

typedef struct {
  float (*run)(long, float, float);
  int bytes;
  int chains;
} kernel;

#define ENTRY(bytes, chains) {run_##bytes##_##chains, bytes, chains}
#define ENTRIES(bytes) \
  ENTRY(bytes, 8), ENTRY(bytes, 10), ENTRY(bytes, 12), ENTRY(bytes, 16), ENTRY(bytes, 20)
static const kernel kernels[] = {ENTRIES(16), ENTRIES(32), ENTRIES(64)};

typedef struct {
  const kernel *kernel;
  long steps;
  double begin, end;
} job;

static atomic_int waiting;
static volatile float factor = 0.5, summand = 0.5, sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void *work(void *argument) {
  job *own = argument;
  /* All begin together; whoever waits keeps its core awake. */
  atomic_fetch_sub(&waiting, 1);
  while (atomic_load(&waiting) > 0) {
  }
  own->begin = now();
  sink = own->kernel->run(own->steps, factor, summand);
  own->end = now();
  return NULL;
}

/* Seconds from the first thread's beginning to the last one's end. */
static double run_all(const kernel *k, long steps, int threads) {
  job *jobs = calloc(threads, sizeof(job));
  pthread_t *handles = calloc(threads, sizeof(pthread_t));
  if (jobs == NULL || handles == NULL) exit(1);
  atomic_store(&waiting, threads);
  for (int i = 0; i < threads; i++) {
    jobs[i].kernel = k;
    jobs[i].steps = steps;
    if (i > 0 && pthread_create(&handles[i], NULL, work, &jobs[i]) != 0) {
      fprintf(stderr, "fma-peak: %d threads cannot be started\n", threads);
      exit(1);
    }
  }
  work(&jobs[0]);
  for (int i = 1; i < threads; i++) pthread_join(handles[i], NULL);
  double begin = jobs[0].begin, end = jobs[0].end;
  for (int i = 1; i < threads; i++) {
    if (jobs[i].begin < begin) begin = jobs[i].begin;
    if (jobs[i].end > end) end = jobs[i].end;
  }
  free(jobs);
  free(handles);
  return end - begin;
}

int main(int argc, char **argv) {
  const int threads = argc == 2 ? atoi(argv[1]) : 0;
  if (threads < 1) {
    fprintf(stderr, "usage: fma-peak THREADS\n");
    return 2;
  }
  const double trial_seconds = 0.005;
  const kernel *best = NULL;
  double best_rate = 0;
  for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const kernel *k = &kernels[i];
    const long probe = 20000;
    const double probe_seconds = run_all(k, probe, 1);
    const long steps = (long)(probe * trial_seconds / probe_seconds) + 1;
    const double operations = 2.0 * steps * k->chains * (k->bytes / sizeof(float)) * threads;
    for (int trial = 0; trial < 3; trial++) {
      const double rate = operations / run_all(k, steps, threads);
      if (rate > best_rate) {
        best_rate = rate;
        best = k;
      }
    }
  }
  printf("{\"gflops\": %.2f, \"vectorBits\": %d, \"chains\": %d}\n", best_rate * 1e-9, best->bytes * 8, best->chains);
  return 0;
}
