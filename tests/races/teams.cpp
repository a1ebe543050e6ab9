// OpenMP's teams as plain threads: what compiled host code asks of the runtime, where ThreadSanitizer sees every fork, join and barrier.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <vector>

namespace {

struct Team {
  int threads;
  pthread_barrier_t barrier;
  void (*region)(int32_t *, int32_t *, ...);
  void *captured[64];
};

struct Member {
  Team *team;
  int number;
  const Member *outer; // of the thread that made the team
};

thread_local Member self = {nullptr, 0, nullptr};
thread_local int requested = 0;

int usual() {
  const char *set = std::getenv("OMP_NUM_THREADS");
  return set ? std::atoi(set) : 2;
}

// More arguments than a function takes do no harm on x86-64.
#define EIGHT(FROM) c[FROM], c[FROM + 1], c[FROM + 2], c[FROM + 3], c[FROM + 4], c[FROM + 5], c[FROM + 6], c[FROM + 7]
void call(Team &team, int number) {
  int32_t global = number, bound = number;
  void **c = team.captured;
  team.region(&global, &bound, EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56));
}

void *begin(void *member) {
  self = *static_cast<Member *>(member);
  call(*self.team, self.number);
  return nullptr;
}

void run(Team &team) {
  const Member outside = self;
  std::vector<Member> members(team.threads);
  std::vector<pthread_t> threads(team.threads);
  for (int i = 1; i < team.threads; ++i) {
    members[i] = {&team, i, &outside};
    pthread_create(&threads[i], nullptr, begin, &members[i]);
  }
  members[0] = {&team, 0, &outside};
  begin(&members[0]);
  for (int i = 1; i < team.threads; ++i)
    pthread_join(threads[i], nullptr);
  self = outside;
}

} // namespace

extern "C" {

void __kmpc_push_num_threads(void *, int32_t, int32_t threads) { requested = threads; }
void __kmpc_push_num_threads_strict(void *, int32_t, int32_t threads) { requested = threads; }

void __kmpc_fork_call(void *, int32_t count, void (*region)(int32_t *, int32_t *, ...), ...) {
  Team team;
  if (count > 64)
    std::abort();
  team.threads = self.team ? 1 : requested > 0 ? requested : usual();
  team.region = region;
  requested = 0;
  __builtin_va_list given;
  __builtin_va_start(given, region);
  for (int i = 0; i < count; ++i)
    team.captured[i] = __builtin_va_arg(given, void *);
  __builtin_va_end(given);
  pthread_barrier_init(&team.barrier, nullptr, team.threads);
  run(team);
  pthread_barrier_destroy(&team.barrier);
}

void __kmpc_serialized_parallel(void *, int32_t) {}
void __kmpc_end_serialized_parallel(void *, int32_t) {}
int32_t __kmpc_global_thread_num(void *) { return self.number; }
int32_t omp_get_thread_num() { return self.number; }
int32_t omp_get_num_threads() { return self.team ? self.team->threads : 1; }
int32_t omp_get_max_threads() { return usual(); }
int32_t omp_get_num_procs() { return usual(); }
int32_t omp_get_level() {
  int32_t level = 0;
  for (const Member *member = &self; member->team; member = member->outer)
    ++level;
  return level;
}
int32_t omp_get_ancestor_thread_num(int32_t level) {
  const Member *member = &self;
  for (int32_t up = omp_get_level() - level; up > 0; --up)
    member = member->outer;
  return member->number;
}
int32_t omp_get_active_level() {
  int32_t level = 0;
  for (const Member *member = &self; member->team; member = member->outer)
    level += member->team->threads > 1;
  return level;
}
int32_t omp_get_max_active_levels() { return 1; }
int32_t omp_in_parallel() { return omp_get_active_level(); }
void omp_set_dynamic(int32_t) {}
void omp_set_max_active_levels(int32_t) {}

void __kmpc_barrier(void *, int32_t) {
  if (self.team)
    pthread_barrier_wait(&self.team->barrier);
}

// Static schedules without a chunk: what clang makes of the host runtime's own loops.
void __kmpc_for_static_init_8(void *, int32_t, int32_t, int32_t *last, int64_t *low, int64_t *high, int64_t *stride,
                              int64_t step, int64_t) {
  const int64_t all = (*high - *low) / step + 1, threads = omp_get_num_threads(), number = omp_get_thread_num();
  const int64_t first = all * number / threads, behind = all * (number + 1) / threads;
  *high = *low + (behind - 1) * step;
  *low += first * step;
  *stride = all * step;
  *last = number == threads - 1;
}
void __kmpc_for_static_fini(void *, int32_t) {}

// Names that clang's instrumentation has for what GCC's run time intercepts.
void *__tsan_memcpy(void *to, const void *from, size_t bytes) { return std::memcpy(to, from, bytes); }
void *__tsan_memmove(void *to, const void *from, size_t bytes) { return std::memmove(to, from, bytes); }
void *__tsan_memset(void *to, int value, size_t bytes) { return std::memset(to, value, bytes); }
}
