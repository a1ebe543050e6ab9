; What regions read at known places of an object that no region writes to, forks hand over: pointers, integers, and numbers by the address of a copy. Who
; does nothing else with the object does not get its address. A variable that is a number is read once, where the region begins. Nothing is read
; behind the end of what is known to be there, nor before the fork what a region writes.
; An integer that is only copied may be the bits of a number, and goes by address too.
;
; RUN: %opt -passes=adgen-promote-captures -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_f(
; CHECK: %[[ARRAY:.*]] = load ptr, ptr %grid
; CHECK: %[[AT:.*]] = getelementptr inbounds i8, ptr %grid, i64 12
; CHECK: %[[COUNT:.*]] = load i32, ptr %[[AT]]
; CHECK: %[[SPACINGAT:.*]] = getelementptr inbounds i8, ptr %inner, i64 8
; CHECK: %[[SPACING:.*]] = load double, ptr %[[SPACINGAT]]
; CHECK: store double %[[SPACING]], ptr %[[COPY:[0-9]+]],
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 10, ptr @started, i32 0, ptr %step, ptr %sum, ptr null, ptr %x, ptr %heap, ptr null, ptr %[[ARRAY]], i32 %[[COUNT]], ptr %[[COPY]])
define void @adgen_body_f(ptr %x, ptr "adgen-struct"="16" %grid) {
  %step = alloca double
  %sum = alloca double
  %object = alloca { ptr, double, double }
  %heap = call noalias nonnull ptr @_Znwm(i64 16)
  %inner = getelementptr inbounds i8, ptr %object, i64 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 7, ptr @started, i32 0, ptr %step, ptr %sum, ptr readonly nonnull %grid, ptr %x, ptr %heap, ptr nonnull %inner)
  store double 2.0, ptr %step
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 7, ptr @started, i32 0, ptr %step, ptr %sum, ptr readonly nonnull %grid, ptr %x, ptr %heap, ptr nonnull %inner)
  ret void
}

; CHECK: define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %step, ptr %sum, ptr %grid, ptr %x, ptr %heap, ptr %inner, ptr %[[S1:.*]], i32 %[[S2:.*]], ptr %[[S3:.*]])
; CHECK-NEXT: call void @adgen_region_f(ptr %step, ptr %sum, ptr null, ptr %x, ptr %heap, ptr null, ptr %[[S1]], i32 %[[S2]], ptr %[[S3]])
define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %step, ptr %sum, ptr readonly %grid, ptr %x, ptr %heap, ptr %inner) {
  call void @adgen_region_f(ptr %step, ptr %sum, ptr %grid, ptr %x, ptr %heap, ptr %inner)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_f(
; CHECK-SAME: ptr %step, ptr %sum, ptr %grid, ptr %x, ptr %heap, ptr %inner, ptr %[[R1:.*]], i32 %[[R2:.*]], ptr %[[R3:.*]])
; CHECK-NEXT: entry:
; CHECK-DAG:   %[[R3READ:.*]] = load double, ptr %[[R3]]
; CHECK-DAG:   %[[STEP:.*]] = load double, ptr %step
; CHECK:       br label %loop
; CHECK:     loop:
; CHECK-NEXT:  store double %[[STEP]], ptr %x
; CHECK-NEXT:  %more = add i32 %[[R2]], 1
; CHECK-NEXT:  store i32 %more, ptr %x
; CHECK-NEXT:  %old = load double, ptr %sum
; CHECK-NEXT:  %new = fadd double %old, %[[STEP]]
; CHECK-NEXT:  store double %new, ptr %sum
; CHECK-NEXT:  store double %[[R3READ]], ptr %[[R1]]
; CHECK:       %beyond = load double, ptr %far
define internal void @adgen_region_f(ptr %step, ptr %sum, ptr %grid, ptr %x, ptr %heap, ptr %inner) {
entry:
  %countat = getelementptr i8, ptr %grid, i64 12
  br label %loop
loop:
  %a = load double, ptr %step
  store double %a, ptr %x
  %count = load i32, ptr %countat
  %more = add i32 %count, 1
  store i32 %more, ptr %x
  %old = load double, ptr %sum
  %b = load double, ptr %step
  %new = fadd double %old, %b
  store double %new, ptr %sum
  %array = load ptr, ptr %grid
  %spacingat = getelementptr i8, ptr %inner, i64 8
  %spacing = load double, ptr %spacingat
  store double %spacing, ptr %array
  %far = getelementptr i8, ptr %heap, i64 16
  %beyond = load double, ptr %far
  store double %beyond, ptr %x
  %again = icmp slt i32 %count, 3
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_g(
; CHECK: %[[BITS:.*]] = load i64, ptr %
; CHECK: store i64 %[[BITS]], ptr %[[SLOT:[0-9]+]],
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 4, ptr @started_g, i32 0, ptr null, ptr %x, ptr %[[SLOT]])
define void @adgen_body_g(ptr %x) {
  %object = alloca { ptr, double }
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, ptr @started_g, i32 0, ptr %object, ptr %x)
  ret void
}

define internal void @started_g(ptr %thread, ptr %bound, i32 %team, ptr %object, ptr %x) {
  call void @adgen_region_g(ptr %object, ptr %x)
  ret void
}

define internal void @adgen_region_g(ptr %object, ptr %x) {
  %at = getelementptr i8, ptr %object, i64 8
  %bits = load i64, ptr %at
  store i64 %bits, ptr %x
  ret void
}

declare noalias nonnull ptr @_Znwm(i64)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
