; A parallel region becomes a function of what it captures, and what a thread starts only calls it. The team's size goes along; floating
; point that came as an integer goes by address. Where an `if` clause leaves the region to one thread, that is a team of one.
;
; RUN: %opt -passes='adgen-outline-parallel-regions' -S %s | %filecheck %s --implicit-check-not='call {{.*}}serialized' --implicit-check-not='call {{.*}}push_num'

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @f(
; CHECK:         call void @adgen_omp_request(i32 4)
; CHECK:       together:
; CHECK-NEXT:    %[[TEAM:.*]] = call i32 @adgen_omp_team()
; CHECK-NEXT:    call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 4, ptr @f.outlined, i32 %[[TEAM]], ptr %x, i64 %n, ptr %w.casted)
; CHECK:       alone:
; CHECK-NEXT:    call i32 @adgen_omp_team()
; CHECK-NEXT:    call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 4, ptr @f.outlined, i32 1, ptr %x, i64 %n, ptr %w.casted)
; CHECK-NEXT:    ret void
define void @f(ptr %x, i64 %n, double %w, i1 %condition) {
  %w.casted = alloca i64
  %thread = alloca i32
  store double %w, ptr %w.casted
  %integer = load i64, ptr %w.casted
  call void @__kmpc_push_num_threads(ptr @place, i32 0, i32 4)
  br i1 %condition, label %together, label %alone
together:
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 3, ptr @f.outlined, ptr %x, i64 %n, i64 %integer)
  ret void
alone:
  call void @__kmpc_serialized_parallel(ptr @place, i32 0)
  call void @f.outlined(ptr %thread, ptr %thread, ptr %x, i64 %n, i64 %integer)
  call void @__kmpc_end_serialized_parallel(ptr @place, i32 0)
  ret void
}

; CHECK: define internal void @adgen_region_f.outlined(ptr align 8 %x, i64 %n, ptr %w) #[[REGION:[0-9]+]]
; CHECK:         %[[W:.*]] = load double, ptr %w
; CHECK:         store double %[[W]], ptr %w.addr
; CHECK:         fmul double
; CHECK:         ret void

; CHECK: define internal void @f.outlined(ptr %0, ptr %1, i32 %2, ptr %3, i64 %4, ptr %5)
; CHECK-NEXT:  entry:
; CHECK-NEXT:    call void @adgen_region_f.outlined(ptr %3, i64 %4, ptr %5)
; CHECK-NEXT:    ret void

; CHECK: attributes #[[REGION]] = { noinline
define internal void @f.outlined(ptr %thread, ptr %bound, ptr align 8 %x, i64 %n, i64 %w) alwaysinline {
  %w.addr = alloca i64
  store i64 %w, ptr %w.addr
  %factor = load double, ptr %w.addr
  %at = getelementptr double, ptr %x, i64 %n
  %old = load double, ptr %at
  %new = fmul double %old, %factor
  store double %new, ptr %at
  ret void
}

@place = private constant [1 x i8] zeroinitializer
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_push_num_threads(ptr, i32, i32)
declare void @__kmpc_serialized_parallel(ptr, i32)
declare void @__kmpc_end_serialized_parallel(ptr, i32)
