; The cotangent of an element that each iteration would take is taken in front of the loop, where nothing else in it may be the element.
;
; RUN: %opt -passes=adgen-hoist-consumptions,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @sums(
; CHECK:       entry:
; CHECK:         %at = getelementptr float, ptr %d_sum, i64 %i
; CHECK-NEXT:    %d = atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4, !adgen.consumed
; CHECK-NEXT:    br label %loop
; CHECK:       loop:
; CHECK-NEXT:    %taken = phi float [ %d, %entry ], [ 0.000000e+00, %loop ]
; CHECK-NOT:     xchg
; CHECK:         %all = fadd float %carried, %taken
define void @sums(ptr noalias "adgen-shadow" %d_sum, ptr noalias "adgen-shadow" %d_x, i64 %i) "adgen-activity"="duplicated:duplicated" {
entry:
  br label %loop
loop:
  %k = phi i64 [ 99, %entry ], [ %next, %loop ]
  %carried = phi float [ 0.0, %entry ], [ %all, %loop ]
  %at = getelementptr float, ptr %d_sum, i64 %i
  %d = atomicrmw xchg ptr %at, float 0.0 monotonic, align 4, !adgen.consumed !0
  %all = fadd float %carried, %d
  %to = getelementptr float, ptr %d_x, i64 %k
  %old = atomicrmw fadd ptr %to, float %all monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Others' elements, what is done on one way alone, and what is added to again stay.
; CHECK-LABEL: define void @stays(
; CHECK:       loop:
; CHECK:         atomicrmw xchg ptr %at
; CHECK:       some:
; CHECK:         atomicrmw xchg ptr %once
; CHECK:       other:
; CHECK:         atomicrmw xchg ptr %again
define void @stays(ptr noalias "adgen-shadow" %d_sum, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y, i64 %i, i1 %flag) "adgen-activity"="duplicated:duplicated" {
entry:
  br label %loop
loop:
  %k = phi i64 [ 99, %entry ], [ %next, %latch ]
  %at = getelementptr float, ptr %d_sum, i64 %k
  %d = atomicrmw xchg ptr %at, float 0.0 monotonic, align 4, !adgen.consumed !0
  br i1 %flag, label %some, label %latch
some:
  %once = getelementptr float, ptr %d_x, i64 %i
  %e = atomicrmw xchg ptr %once, float 0.0 monotonic, align 4, !adgen.consumed !0
  br label %latch
latch:
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %other, label %loop
other:
  %l = phi i64 [ 99, %latch ], [ %less, %other ]
  %again = getelementptr float, ptr %d_y, i64 %i
  %f = atomicrmw xchg ptr %again, float 0.0 monotonic, align 4, !adgen.consumed !0
  %half = fmul float %f, 0.5
  %old = atomicrmw fadd ptr %again, float %half monotonic
  %less = add i64 %l, -1
  %last = icmp eq i64 %l, 0
  br i1 %last, label %end, label %other
end:
  ret void
}

!0 = !{}
