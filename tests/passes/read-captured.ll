; What regions read at known places of variables that no region writes to is read once, where the region begins: numbers, sizes and pointers. Not
; behind the end of what is known to be there, nor what a region writes.
;
; RUN: %opt -passes=adgen-read-captured -S %s | %filecheck %s

define void @adgen_body_f(ptr %x, ptr "adgen-struct"="16" %grid, ptr %data, i64 %n) {
  %step = alloca double
  %sum = alloca double
  %object = alloca { ptr, double, i32 }
  %heap = call noalias nonnull ptr @_Znwm(i64 16)
  %inner = getelementptr inbounds i8, ptr %object, i64 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 8, ptr @started, i32 0, ptr %step, ptr %sum, ptr %inner, ptr %x, ptr %grid, ptr %heap, ptr %data)
  store double 2.0, ptr %step
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 8, ptr @started, i32 0, ptr %step, ptr %sum, ptr %inner, ptr %x, ptr %grid, ptr %heap, ptr %data)
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %step, ptr %sum, ptr %inner, ptr %x, ptr %grid, ptr %heap, ptr %data) {
  call void @adgen_region_f(ptr %step, ptr %sum, ptr %inner, ptr %x, ptr %grid, ptr %heap, ptr %data)
  ret void
}

; CHECK-LABEL: define internal void @adgen_region_f(
; CHECK-NEXT: entry:
; CHECK-DAG:   %[[STEP:.*]] = load double, ptr %step
; CHECK-DAG:   %[[COUNTAT:.*]] = getelementptr inbounds i8, ptr %inner, i64 8
; CHECK-DAG:   %[[COUNT:.*]] = load i32, ptr %[[COUNTAT]]
; CHECK-DAG:   %[[ARRAY:.*]] = load ptr, ptr %grid
; CHECK-DAG:   %[[HEAPAT:.*]] = getelementptr inbounds i8, ptr %heap, i64 8
; CHECK-DAG:   %[[HEAP:.*]] = load double, ptr %[[HEAPAT]]
; CHECK:       br label %loop
; CHECK:     loop:
; CHECK-NOT:   load double, ptr %step
; CHECK:       store double %[[STEP]], ptr %x
; CHECK-NOT:   load i32
; CHECK:       store i32 %[[COUNT]], ptr %x
; CHECK:       %old = load double, ptr %sum
; CHECK:       store double %[[HEAP]], ptr %[[ARRAY]]
; CHECK:       %beyond = load double, ptr %far
; CHECK:       %unknown = load double, ptr %data
define internal void @adgen_region_f(ptr %step, ptr %sum, ptr %inner, ptr %x, ptr %grid, ptr %heap, ptr %data) {
entry:
  %countat = getelementptr i8, ptr %inner, i64 8
  br label %loop
loop:
  %a = load double, ptr %step
  store double %a, ptr %x
  %count = load i32, ptr %countat
  store i32 %count, ptr %x
  %old = load double, ptr %sum
  %b = load double, ptr %step
  %new = fadd double %old, %b
  store double %new, ptr %sum
  %array = load ptr, ptr %grid
  %heapat = getelementptr i8, ptr %heap, i64 8
  %h = load double, ptr %heapat
  store double %h, ptr %array
  %far = getelementptr i8, ptr %heap, i64 16
  %beyond = load double, ptr %far
  store double %beyond, ptr %x
  %unknown = load double, ptr %data
  store double %unknown, ptr %x
  %again = icmp slt i32 %count, 3
  br i1 %again, label %loop, label %end
end:
  ret void
}

declare noalias nonnull ptr @_Znwm(i64)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
