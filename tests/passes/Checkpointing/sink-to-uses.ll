; In a loop, a number that is compared and used only where the comparison says so is computed again there, with its way; Enzyme finds no derivative
; of what is compared. What is used elsewhere, what reads nothing that has to be kept, what stands before a write, and what lies in no loop stays.
;
; RUN: %opt -passes='adgen-sink-to-uses,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_near(
; CHECK:       loop:
; CHECK:         %v = load double, ptr %at{{.*}}, !enzyme_inactive_val
; CHECK-NEXT:    %d = fmul double %v, %v, !enzyme_inactive_val
; CHECK-NEXT:    %less = fcmp olt double %d, 1.000000e+00
; CHECK-NEXT:    br i1 %less, label %near, label %next
; CHECK:       near:
; CHECK-NEXT:    br label %[[AGAIN:.*]]
; CHECK:       [[AGAIN]]:
; CHECK-NEXT:    %[[AT:.*]] = getelementptr double, ptr %x, i64 %i
; CHECK-NEXT:    %[[V:.*]] = load double, ptr %[[AT]]
; CHECK-NEXT:    %[[D:.*]] = fmul double %[[V]], %[[V]]
; CHECK-NEXT:    br label %near.sunk
; CHECK:       near.sunk:
; CHECK-NEXT:    store double %[[D]], ptr %x
define void @adgen_body_near(ptr noalias %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %d = fmul double %v, %v
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %next
near:
  store double %d, ptr %x
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Two ways to the number: the way is taken again, and the integer that one of them made is handed on.
; CHECK-LABEL: define void @adgen_body_ways(
; CHECK:       join:
; CHECK-NEXT:    %[[WHERE:[a-z0-9]+]] = phi i64
; CHECK:       use:
; CHECK-NEXT:    br label %[[LOOP:.*]]
; CHECK:       [[JOIN:.*]]:
; CHECK-NEXT:    %[[D:.*]] = phi double [ %{{.*}}, %[[LOOP]] ], [ %[[W:.*]], %[[FAR:.*]] ]
; CHECK-NEXT:    br label %use.sunk
; CHECK:       [[LOOP]]:
; CHECK:         br i1 %{{.*}}, label %[[FAR]], label %[[JOIN]]
; CHECK:       [[FAR]]:
; CHECK-NEXT:    %[[AT:.*]] = getelementptr double, ptr %x, i64 %[[WHERE]]
; CHECK-NEXT:    %[[W]] = load double, ptr %[[AT]]
; CHECK-NEXT:    br label %[[JOIN]]
; CHECK:       use.sunk:
; CHECK-NEXT:    store double %[[D]], ptr %y
define void @adgen_body_ways(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  store double 0.0, ptr %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %at
  %positive = fcmp ogt double %v, 0.0
  br i1 %positive, label %far, label %join
far:
  %other = sub i64 %n, %i
  %beyond = getelementptr double, ptr %x, i64 %other
  %w = load double, ptr %beyond
  br label %join
join:
  %d = phi double [ %v, %loop ], [ %w, %far ]
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %use, label %next
use:
  store double %d, ptr %y
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The number is used in any case.
; CHECK-LABEL: define void @adgen_body_elsewhere(
; CHECK-NOT:   .sunk:
define void @adgen_body_elsewhere(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %sum = phi double [ 0.0, %entry ], [ %more.of.it, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %d = load double, ptr %at
  %more.of.it = fadd double %sum, %d
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %next
near:
  store double %d, ptr %x
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  store double %more.of.it, ptr %y
  ret void
}

; Nobody writes to what is read: the reverse sweep reads it again.
; CHECK-LABEL: define void @adgen_body_unchanged(
; CHECK-NOT:   .sunk:
define void @adgen_body_unchanged(ptr noalias readonly %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %d = load double, ptr %at
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %next
near:
  store double %d, ptr %y
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What is read may have changed where the number is used.
; CHECK-LABEL: define void @adgen_body_overwritten(
; CHECK-NOT:   .sunk:
define void @adgen_body_overwritten(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %d = load double, ptr %at
  store double 0.0, ptr %at
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %next
near:
  store double %d, ptr %y
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; No loop, no tape.
; CHECK-LABEL: define void @adgen_body_once(
; CHECK-NOT:   .sunk:
define void @adgen_body_once(ptr noalias %x) {
entry:
  %d = load double, ptr %x
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %end
near:
  store double 0.0, ptr %x
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @no_body(
; CHECK-NOT:   .sunk:
define void @no_body(ptr noalias %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %next ]
  %at = getelementptr double, ptr %x, i64 %i
  %d = load double, ptr %at
  %less = fcmp olt double %d, 1.0
  br i1 %less, label %near, label %next
near:
  store double %d, ptr %x
  br label %next
next:
  %following = add i64 %i, 1
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
