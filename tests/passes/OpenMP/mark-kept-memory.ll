; What a thread has allocated in its forward sweep is its own in its reverse sweep, too, where the address lies in the record alone that is
; kept for the thread: additions there are plain. Where the forward sweep has also stored the address elsewhere, another thread may add too.
;
; RUN: %opt -passes='adgen-mark-private-memory,verify' -S %s | %filecheck %s

%record = type { ptr, ptr, ptr }

; CHECK-LABEL: define internal void @diffeadgen_region_r(
; CHECK:         load double, ptr %own, align 8, !alias.scope ![[OWN:[0-9]+]]
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double %{{.*}}, ptr %own, align 8, !alias.scope ![[OWN]]
; CHECK-NEXT:    %row = load ptr, ptr %rows
; CHECK:         load double, ptr %row
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double %{{.*}}, ptr %row
; CHECK-NEXT:    atomicrmw fadd ptr %seen, double %v monotonic, align 8
define internal void @diffeadgen_region_r(double %v, %record %tapeArg) {
  %own = extractvalue %record %tapeArg, 0
  %seen = extractvalue %record %tapeArg, 1
  %rows = extractvalue %record %tapeArg, 2
  %a = atomicrmw fadd ptr %own, double %v monotonic, align 8
  %row = load ptr, ptr %rows
  %b = atomicrmw fadd ptr %row, double %v monotonic, align 8
  %c = atomicrmw fadd ptr %seen, double %v monotonic, align 8
  ret void
}

define internal %record @augmented_adgen_region_r(ptr %place) {
  %own = call noalias ptr @_Znwm(i64 8)
  %seen = call noalias ptr @_Znwm(i64 8)
  %rows = call noalias ptr @_Znwm(i64 8)
  %row = call noalias ptr @_Znwm(i64 8)
  store ptr %seen, ptr %place
  store ptr %row, ptr %rows
  %r0 = insertvalue %record poison, ptr %own, 0
  %r1 = insertvalue %record %r0, ptr %seen, 1
  %r2 = insertvalue %record %r1, ptr %rows, 2
  ret %record %r2
}

define internal void @augmented_outlined(ptr %number, ptr %bound, ptr %place, ptr %tape) {
  %array = load ptr, ptr %tape
  %thread = call i64 @omp_get_thread_num()
  %slot = getelementptr inbounds %record, ptr %array, i64 %thread
  %kept = call %record @augmented_adgen_region_r(ptr %place)
  store %record %kept, ptr %slot
  ret void
}

define internal void @diffe_outlined(ptr %number, ptr %bound, ptr %tapeArg) {
  %array = load ptr, ptr %tapeArg
  %thread = call i64 @omp_get_thread_num()
  %slot = getelementptr inbounds %record, ptr %array, i64 %thread
  %kept = load %record, ptr %slot
  call void @diffeadgen_region_r(double 1.0, %record %kept)
  ret void
}

; Any thread may read what another one has kept: all additions stay atomic.
; CHECK-LABEL: define internal void @diffeadgen_region_s(
; CHECK:         atomicrmw fadd ptr %own, double %v monotonic, align 8
define internal void @diffeadgen_region_s(double %v, { ptr } %tapeArg) {
  %own = extractvalue { ptr } %tapeArg, 0
  %a = atomicrmw fadd ptr %own, double %v monotonic, align 8
  ret void
}

define internal { ptr } @augmented_adgen_region_s() {
  %own = call noalias ptr @_Znwm(i64 8)
  %r0 = insertvalue { ptr } poison, ptr %own, 0
  ret { ptr } %r0
}

define internal void @augmented_outlined_s(ptr %number, ptr %bound, ptr %tape) {
  %array = load ptr, ptr %tape
  %thread = call i64 @omp_get_thread_num()
  %slot = getelementptr inbounds { ptr }, ptr %array, i64 %thread
  %kept = call { ptr } @augmented_adgen_region_s()
  store { ptr } %kept, ptr %slot
  ret void
}

define internal void @diffe_outlined_s(ptr %number, ptr %bound, ptr %tapeArg) {
  %array = load ptr, ptr %tapeArg
  %thread = call i64 @omp_get_thread_num()
  %next = add i64 %thread, 1
  %slot = getelementptr inbounds { ptr }, ptr %array, i64 %next
  %kept = load { ptr }, ptr %slot
  call void @diffeadgen_region_s(double 1.0, { ptr } %kept)
  ret void
}

define void @adgen_gradient_f(ptr %place) {
  %tape = alloca ptr
  %array = call noalias ptr @malloc(i64 1024)
  store ptr %array, ptr %tape
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @augmented_outlined, ptr %place, ptr %tape)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @diffe_outlined, ptr %tape)
  call void @free(ptr %array)
  ret void
}

define void @adgen_gradient_g() {
  %tape = alloca ptr
  %array = call noalias ptr @malloc(i64 1024)
  store ptr %array, ptr %tape
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @augmented_outlined_s, ptr %tape)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @diffe_outlined_s, ptr %tape)
  call void @free(ptr %array)
  ret void
}

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare noalias ptr @_Znwm(i64)
declare i64 @omp_get_thread_num()
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
