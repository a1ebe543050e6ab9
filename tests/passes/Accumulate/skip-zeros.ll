; What is added for cotangents that are zero on some way is under a condition, with what is computed for that alone; sums go on without it. Not for what is cheap,
; nor where something that comes between reads an element, nor in the primal.
;
; RUN: %opt -passes=adgen-skip-zeros -S %s | %filecheck %s

; CHECK-LABEL: define void @diffe_pairs(
; CHECK:       join:
; CHECK-NEXT:    %c = phi double [ %v, %near ], [ 0.000000e+00, %loop ]
; CHECK-NEXT:    %[[SOME:.*]] = fcmp une double %c, 0.000000e+00
; CHECK-NEXT:    br i1 %[[SOME]], label %[[THEN:.*]], label %[[REST:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    %distance = load double, ptr %other, align 8, !invariant.load
; CHECK-NEXT:    %d = fdiv double %c, %distance
; CHECK-NEXT:    %at = getelementptr
; CHECK-NEXT:    %old = load double, ptr %at
; CHECK-NEXT:    %new = fadd double %old, %d
; CHECK-NEXT:    store double %new, ptr %at
; CHECK-NEXT:    atomicrmw fadd ptr %shadow, double %d
; CHECK-NEXT:    %more = fsub double %sum, %d
; CHECK-NEXT:    atomicrmw fadd ptr %third, double %d
; CHECK-NEXT:    br label %[[REST]]
; CHECK:       [[REST]]:
; CHECK-NEXT:    %[[D:.*]] = phi double [ %d, %[[THEN]] ], [ 0.000000e+00, %join ]
; CHECK-NEXT:    %[[MORE:.*]] = phi double [ %more, %[[THEN]] ], [ %sum, %join ]
; CHECK:         fadd double %[[MORE]], %[[D]]
define void @diffe_pairs(ptr %x, ptr %other, ptr noalias %shadow, ptr noalias %third, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %sum = phi double [ 0.0, %entry ], [ %both, %join ]
  %is = icmp ult i64 %i, 7
  br i1 %is, label %near, label %join
near:
  br label %join
join:
  %c = phi double [ %v, %near ], [ 0.0, %loop ]
  %distance = load double, ptr %other, align 8, !invariant.load !0
  %d = fdiv double %c, %distance
  %at = getelementptr double, ptr %x, i64 %i
  %old = load double, ptr %at
  %new = fadd double %old, %d
  store double %new, ptr %at
  %a = atomicrmw fadd ptr %shadow, double %d monotonic, align 8
  %more = fsub double %sum, %d
  %b = atomicrmw fadd ptr %third, double %d monotonic, align 8
  %both = fadd double %more, %d
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @diffe_cheap(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define void @diffe_cheap(ptr %x, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %is = icmp ult i64 %i, 7
  br i1 %is, label %near, label %join
near:
  br label %join
join:
  %c = phi double [ %v, %near ], [ 0.0, %loop ]
  %old = load double, ptr %x
  %new = fadd double %old, %c
  store double %new, ptr %x
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; The first addition may be to what is read between them, so only the second one is left, which is too little.
; CHECK-LABEL: define void @diffe_read(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define void @diffe_read(ptr %x, ptr %y, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %is = icmp ult i64 %i, 7
  br i1 %is, label %near, label %join
near:
  br label %join
join:
  %c = phi double [ %v, %near ], [ 0.0, %loop ]
  %d = fdiv double %c, 3.0
  %a = atomicrmw fadd ptr %x, double %d monotonic, align 8
  %seen = load i64, ptr %y
  %b = atomicrmw fadd ptr %x, double %c monotonic, align 8
  %next = add i64 %i, %seen
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @primal(
; CHECK-NOT:     fcmp
; CHECK:         ret void
define void @primal(ptr %x, ptr %y, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %is = icmp ult i64 %i, 7
  br i1 %is, label %near, label %join
near:
  br label %join
join:
  %c = phi double [ %v, %near ], [ 0.0, %loop ]
  %d = fdiv double %c, 3.0
  %a = atomicrmw fadd ptr %x, double %d monotonic, align 8
  %b = atomicrmw fadd ptr %y, double %d monotonic, align 8
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

!0 = !{}

; A sum goes on without what is added, so what is left of it is computed before the condition, though nothing else uses it.
; CHECK-LABEL: define void @diffe_left(
; CHECK:       join:
; CHECK:         %left = fmul double %v, %v
; CHECK-NEXT:    fcmp une double %c, 0.000000e+00
; CHECK:         phi double [ %more, %{{.*}} ], [ %left, %join ]
define void @diffe_left(ptr %x, ptr noalias %shadow, ptr noalias %third, ptr noalias %result, double %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %sum = phi double [ 0.0, %entry ], [ %more, %join ]
  %is = icmp ult i64 %i, 7
  br i1 %is, label %near, label %join
near:
  br label %join
join:
  %c = phi double [ %v, %near ], [ 0.0, %loop ]
  %d = fdiv double %c, %v
  %left = fmul double %v, %v
  %more = fadd double %left, %d
  %a = atomicrmw fadd ptr %shadow, double %d monotonic, align 8
  %b = atomicrmw fadd ptr %third, double %d monotonic, align 8
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  store double %more, ptr %result
  ret void
}
