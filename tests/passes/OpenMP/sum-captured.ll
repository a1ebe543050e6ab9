; What a region adds to a number that all threads share is summed by each thread and added once. Not where the place changes, nor where something else in the region
; may see the number.
;
; RUN: %opt -passes='adgen-sum-captured' -S %s | %filecheck %s

; CHECK-LABEL: define internal void @diffeadgen_region_f(
; CHECK:         %step.sum = alloca double
; CHECK-NEXT:    store double 0.000000e+00, ptr %step.sum
; CHECK:       loop:
; CHECK:         %[[OLD:.*]] = load double, ptr %step.sum
; CHECK-NEXT:    %[[NEW:.*]] = fadd reassoc nsz contract double %[[OLD]], %v
; CHECK-NEXT:    store double %[[NEW]], ptr %step.sum
; CHECK-NEXT:    atomicrmw fadd ptr %seen, double %v
; CHECK:         atomicrmw fadd ptr %element, double %v
; CHECK:       end:
; CHECK:         %[[SUM:.*]] = load double, ptr %step.sum
; CHECK-NEXT:    atomicrmw fadd ptr %{{.*}}, double %[[SUM]] monotonic, align 8, !adgen.once
; CHECK-NEXT:    ret void
define internal void @diffeadgen_region_f(ptr %step, ptr %seen, ptr %again, ptr %array, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = atomicrmw fadd ptr %step, double %v monotonic, align 8
  %b = atomicrmw fadd ptr %seen, double %v monotonic, align 8
  %element = getelementptr double, ptr %array, i64 %i
  %c = atomicrmw fadd ptr %element, double %v monotonic, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %d = load double, ptr %again
  ret void
}

; A function of the module could find the number by another way.
; CHECK-LABEL: define internal void @diffeadgen_region_g(
; CHECK-NOT:     alloca
; CHECK:         atomicrmw fadd ptr %step, double %v
define internal void @diffeadgen_region_g(ptr %step, double %v) {
  %a = atomicrmw fadd ptr %step, double %v monotonic, align 8
  call void @helper(ptr null)
  ret void
}

define internal void @helper(ptr %list) {
  store double 0.0, ptr %list
  ret void
}

define void @adgen_gradient_f(ptr %array, double %v, i64 %n) {
  %step = alloca double
  %seen = alloca double
  call void @diffeadgen_region_f(ptr %step, ptr %seen, ptr %seen, ptr %array, double %v, i64 %n)
  call void @diffeadgen_region_g(ptr %step, double %v)
  ret void
}
