; A task runs where it is met: what it shares and its own copies lie in local variables, nothing is waited for. An untied
; task stays.
;
; RUN: %opt -passes='adgen-run-tasks-at-once' -S %s | %filecheck %s

; CHECK-LABEL: define double @f(
; CHECK:         %[[SHARED:.*]] = alloca [8 x i8], align 16
; CHECK:         %task = alloca [48 x i8], align 16
; CHECK-NOT:     call ptr @__kmpc_omp_task_alloc
; CHECK:         store ptr %[[SHARED]], ptr %task
; CHECK:         call i32 @entry(i32 0, ptr %task)
; CHECK:         %[[AT:.*]] = getelementptr inbounds i8, ptr %task, i64 24
; CHECK-NEXT:    %[[END:.*]] = load ptr, ptr %[[AT]]
; CHECK-NEXT:    call i32 %[[END]](i32 0, ptr %task)
; CHECK-NOT:     taskwait
; CHECK-NOT:     get_th_data
; CHECK:         store double 0.000000e+00, ptr %s
define double @f(ptr %s) {
  %t = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 9, i64 48, i64 8, ptr @entry)
  %shared = load ptr, ptr %t
  store ptr %s, ptr %shared
  %own = getelementptr i8, ptr %t, i64 40
  store i64 7, ptr %own
  %a = call i32 @__kmpc_omp_task(ptr null, i32 0, ptr %t)
  %b = call i32 @__kmpc_omp_taskwait(ptr null, i32 0)
  %mine = call ptr @__kmpc_task_reduction_get_th_data(i32 0, ptr null, ptr %s)
  store double 0.0, ptr %mine
  ret double 0.0
}

; CHECK-LABEL: define void @loop(
; CHECK:         %[[LAST:.*]] = getelementptr inbounds i8, ptr %task{{.*}}, i64 64
; CHECK-NEXT:    store i32 1, ptr %[[LAST]]
; CHECK-NEXT:    call i32 @entry(i32 0, ptr %task{{.*}})
; CHECK-NEXT:    ret void
define void @loop() {
  %t = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 80, i64 8, ptr @entry)
  %lb = getelementptr i8, ptr %t, i64 40
  %ub = getelementptr i8, ptr %t, i64 48
  call void @__kmpc_taskloop(ptr null, i32 0, ptr %t, i32 1, ptr %lb, ptr %ub, i64 1, i32 1, i32 0, i64 0, ptr null)
  ret void
}

; CHECK-LABEL: define void @untied(
; CHECK:         call ptr @__kmpc_omp_task_alloc
; CHECK:         call i32 @__kmpc_omp_task(
define void @untied() {
  %t = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 0, i64 48, i64 8, ptr @entry)
  %a = call i32 @__kmpc_omp_task(ptr null, i32 0, ptr %t)
  ret void
}

; CHECK: define internal i32 @entry({{.*}} #[[ATTRIBUTES:[0-9]+]]
; CHECK: attributes #[[ATTRIBUTES]] = { alwaysinline }
define internal i32 @entry(i32 %thread, ptr noalias %task) norecurse {
  ret i32 0
}

declare ptr @__kmpc_omp_task_alloc(ptr, i32, i32, i64, i64, ptr)
declare i32 @__kmpc_omp_task(ptr, i32, ptr)
declare i32 @__kmpc_omp_taskwait(ptr, i32)
declare ptr @__kmpc_task_reduction_get_th_data(i32, ptr, ptr)
declare void @__kmpc_taskloop(ptr, i32, ptr, i32, ptr, ptr, i64, i32, i32, i64, ptr)
