; Loops of which each iteration computes the same run once: with what they leave in memory, and with a number that they
; replace, or not, by what is the same for all. Those that add up, that use the iteration's number, that read what they
; have stored, or in which threads meet run as often as they say.
;
; RUN: %opt -passes='adgen-drop-repetitions,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_repeats(
; CHECK:       loop:
; CHECK-NOT:     br i1
; CHECK:         br label %end
; CHECK:       end:
define void @adgen_body_repeats(ptr %x, ptr %y, i32 %n, i1 %cond) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = phi float [ 1.0, %entry ], [ %kept, %loop ]
  %a = load float, ptr %x
  %f = fmul float %a, %a
  %kept = select i1 %cond, float %f, float %old
  store float %f, ptr %y
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  %at = getelementptr float, ptr %y, i32 1
  store float %kept, ptr %at
  ret void
}

; CHECK-LABEL: define void @adgen_body_inner(
; CHECK:       inner:
; CHECK:         br i1 %more, label %inner, label %latch
; CHECK:       latch:
; CHECK-NOT:     br i1
; CHECK:         br label %end
define void @adgen_body_inner(ptr %x, ptr %y, i32 %n, i32 %m) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %inner
inner:
  %i = phi i32 [ 0, %loop ], [ %i.next, %inner ]
  %sum = phi float [ 0.0, %loop ], [ %sum.next, %inner ]
  %from = getelementptr float, ptr %x, i32 %i
  %a = load float, ptr %from
  %sum.next = fadd float %sum, %a
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %m
  br i1 %more, label %inner, label %latch
latch:
  store float %sum.next, ptr %y
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_adds(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_adds(ptr %x, ptr %y, i32 %n) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %a = load float, ptr %x
  %more = fadd float %sum, %a
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  store float %more, ptr %y
  ret void
}

; The number before the last is not the one after the first.
; CHECK-LABEL: define void @adgen_body_before_last(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_before_last(ptr %x, ptr %y, i32 %n) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %last = phi float [ 0.0, %entry ], [ %a, %loop ]
  %a = load float, ptr %x
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  store float %last, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_decides(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_decides(ptr %x, ptr %y, i32 %n, float %b) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %flag = phi i1 [ false, %entry ], [ %other, %loop ]
  %other = select i1 %flag, i1 false, i1 true
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  %z = select i1 %other, float %b, float 0.0
  store float %z, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_uses_number(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_uses_number(ptr %x, ptr %y, i32 %n) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i32 %r
  %a = load float, ptr %from
  store float %a, ptr %y
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_reads_again(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_reads_again(ptr %x, ptr %y, i32 %n) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = load float, ptr %y
  %f = fmul float %a, 2.0
  store float %f, ptr %y
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_meets(
; CHECK:         br i1 %again, label %loop, label %end
define void @adgen_body_meets(ptr %x, ptr %y, i32 %n) {
entry:
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = load float, ptr %x
  call void @meet()
  store float %a, ptr %y
  %next = add i32 %r, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
declare void @meet() convergent memory(none) nounwind willreturn
