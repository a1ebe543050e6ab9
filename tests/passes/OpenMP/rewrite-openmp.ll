; What runs under a lock is enclosed by calls with a derivative; reductions always combine that way, in the order of the threads. A
; barrier has a derivative, `single` and `master` are the first thread's. Atomic operations on floating point take a lock as
; well, unless all are sums; those on integers become calls until Enzyme has run.
;
; RUN: %opt -passes='adgen-rewrite-openmp' -S %s | %filecheck %s
; RUN: sed 's,load atomic i64\(.*\) monotonic,load i64\1,; s/cmpxchg.*/insertvalue { i64, i1 } poison, i64 %old, 0/' %s | %opt -passes='adgen-rewrite-openmp' -S | %filecheck %s --check-prefix=SUMS

target triple = "x86_64-pc-linux-gnu"

; CHECK: @adgen_lock_reduction = internal global [8 x double] zeroinitializer, align 64, !enzyme_shadow ![[SHADOW:[0-9]+]]

; CHECK-LABEL: define void @reduction(
; CHECK-NEXT:    call void @adgen_rule_omp_enter_in_turn(ptr @adgen_lock_reduction)
; CHECK-NEXT:    br label %locked
; CHECK:       locked:
; CHECK-NEXT:    store double 1.0{{.*}}, ptr %sum
; CHECK-NEXT:    call void @adgen_rule_omp_leave(ptr @adgen_lock_reduction)
; CHECK-NEXT:    call void @adgen_rule_omp_barrier(ptr @adgen_lock_barrier)
; CHECK-NEXT:    br label %end
; CHECK-NOT:   atomicrmw
define void @reduction(ptr %where, i32 %thread, ptr %sum) {
  %how = call i32 @__kmpc_reduce(ptr %where, i32 %thread, i32 1, i64 8, ptr %sum, ptr null, ptr null)
  switch i32 %how, label %end [
    i32 1, label %locked
    i32 2, label %atomic
  ]
locked:
  store double 1.0, ptr %sum
  call void @__kmpc_end_reduce(ptr %where, i32 %thread, ptr null)
  br label %end
atomic:
  %old = atomicrmw fadd ptr %sum, double 1.0 monotonic
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @section(
; CHECK-NEXT:    call void @adgen_rule_omp_enter(ptr @adgen_lock_name_of_section)
; CHECK-NEXT:    store
; CHECK-NEXT:    call void @adgen_rule_omp_leave(ptr @adgen_lock_name_of_section)
; CHECK-NEXT:    ret void
define void @section(ptr %x) {
  call void @__kmpc_critical(ptr null, i32 0, ptr @name.of.section)
  store double 1.0, ptr %x
  call void @__kmpc_end_critical(ptr null, i32 0, ptr @name.of.section)
  ret void
}

; CHECK-LABEL: define i32 @single(
; CHECK-NEXT:    %[[THREAD:.*]] = call i32 @omp_get_thread_num()
; CHECK-NEXT:    %[[FIRST:.*]] = icmp eq i32 %[[THREAD]], 0
; CHECK-NEXT:    %[[CHOSEN:.*]] = zext i1 %[[FIRST]] to i32
; CHECK-NEXT:    ret i32 %[[CHOSEN]]
define i32 @single(ptr %where, i32 %thread) {
  %chosen = call i32 @__kmpc_single(ptr %where, i32 %thread)
  ret i32 %chosen
}

; clang's loop runs once: nobody else can change the value meanwhile.
; CHECK-LABEL: define void @product(
; CHECK:         call void @adgen_rule_omp_enter(ptr @adgen_lock_atomic)
; CHECK-NEXT:    load i64, ptr %x, align 8
; CHECK:       again:
; CHECK:         store i64 %{{.*}}, ptr %x, align 8
; CHECK-NEXT:    call void @adgen_rule_omp_leave(ptr @adgen_lock_atomic)
; CHECK-NEXT:    %[[FOUND:.*]] = insertvalue { i64, i1 } poison, i64 %old, 0
; CHECK-NEXT:    insertvalue { i64, i1 } %[[FOUND]], i1 true, 1
define void @product(ptr %x, double %factor) {
  %first = load atomic i64, ptr %x monotonic, align 8
  br label %again
again:
  %old = phi i64 [ %first, %0 ], [ %seen, %again ]
  %number = bitcast i64 %old to double
  %result = fmul double %number, %factor
  %new = bitcast double %result to i64
  %exchanged = cmpxchg ptr %x, i64 %old, i64 %new monotonic monotonic, align 8
  %seen = extractvalue { i64, i1 } %exchanged, 0
  %done = extractvalue { i64, i1 } %exchanged, 1
  br i1 %done, label %end, label %again
end:
  ret void
}

; CHECK-LABEL: define i32 @sum(
; CHECK-NEXT:    call void @adgen_rule_omp_enter(ptr @adgen_lock_atomic)
; CHECK-NEXT:    %[[OLD:.*]] = load double, ptr %x
; CHECK-NEXT:    %[[NEW:.*]] = fadd double %[[OLD]], %y
; CHECK-NEXT:    store double %[[NEW]], ptr %x
; CHECK-NEXT:    call void @adgen_rule_omp_leave(ptr @adgen_lock_atomic)
; CHECK-NEXT:    %[[PLACE:.*]] = call i32 @adgen_counter_add_i32(ptr %count, i32 1)
; CHECK-NEXT:    ret i32 %[[PLACE]]
; SUMS-LABEL: define i32 @sum(
; SUMS-NEXT:    atomicrmw fadd ptr %x, double %y monotonic
define i32 @sum(ptr %x, double %y, ptr %count) {
  %unused = atomicrmw fadd ptr %x, double %y monotonic, align 8
  %place = atomicrmw add ptr %count, i32 1 monotonic, align 4
  ret i32 %place
}

; A constant may be the flag of a thread as well as a number's bits: it says nothing.
; CHECK-LABEL: define void @flag(
; CHECK-NEXT:    store atomic i64 0, ptr %x release
; CHECK-NEXT:    ret void
define void @flag(ptr %x) {
  store atomic i64 0, ptr %x release, align 8
  ret void
}

; Loops are not vectorised before they are differentiated, so hints for that go.
; CHECK-LABEL: define void @simd(
; CHECK:         store float 1.0{{.*}}, ptr %at, align 4{{$}}
; CHECK:         br i1 %more, label %loop, label %end{{$}}
define void @simd(ptr %x, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  store float 1.0, ptr %at, align 4, !llvm.access.group !0
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !1
end:
  ret void
}

; CHECK: declare !enzyme_augment ![[AUGMENT:[0-9]+]] !enzyme_gradient ![[REVERSE:[0-9]+]] void @adgen_rule_omp_leave(ptr)
; CHECK: declare i64 @adgen_rule_omp_leave_augmented(ptr, ptr)
; CHECK: declare void @adgen_rule_omp_leave_reverse(ptr, ptr, i64)
; CHECK-DAG: ![[SHADOW]] = !{ptr @adgen_lock_reduction_shadow}
; CHECK-DAG: ![[AUGMENT]] = !{ptr @adgen_rule_omp_leave_augmented}
; CHECK-DAG: ![[REVERSE]] = !{ptr @adgen_rule_omp_leave_reverse}

@name.of.section = common global [8 x i32] zeroinitializer
declare i32 @__kmpc_reduce(ptr, i32, i32, i64, ptr, ptr, ptr)
declare void @__kmpc_end_reduce(ptr, i32, ptr)
declare void @__kmpc_critical(ptr, i32, ptr)
declare void @__kmpc_end_critical(ptr, i32, ptr)
declare i32 @__kmpc_single(ptr, i32)

!0 = distinct !{}
!1 = distinct !{!1, !2, !3}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = !{!"llvm.loop.vectorize.enable", i1 true}
