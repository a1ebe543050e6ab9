; What a loop carries on as it is, on a way that is taken in all iterations or in none, is what it was before the loop;
; not where iterations may take different ways, or where something else may come of it behind the way.
;
; RUN: %opt -passes='adgen-settle-carried-values,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_kinds(
; CHECK:       loop:
; CHECK-NOT:     %step = phi
; CHECK:       merge:
; CHECK-NEXT:    %step.next = phi float [ %a, %first ], [ %b, %second ], [ %begin, %loop ]
define void @adgen_body_kinds(ptr %x, ptr %y, float %begin, i32 %kind, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %merge ]
  %step = phi float [ %begin, %entry ], [ %step.next, %merge ]
  %px = getelementptr float, ptr %x, i64 %i
  switch i32 %kind, label %merge [
    i32 0, label %first
    i32 1, label %second
  ]
first:
  %a = load float, ptr %px
  br label %merge
second:
  %c = load float, ptr %px
  %b = fneg float %c
  br label %merge
merge:
  %step.next = phi float [ %a, %first ], [ %b, %second ], [ %step, %loop ]
  %py = getelementptr float, ptr %y, i64 %i
  store float %step.next, ptr %py
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_by_iteration(
; CHECK:         %step.next = phi float [ %a, %first ], [ %step, %loop ]
define void @adgen_body_by_iteration(ptr %x, ptr %y, float %begin, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %merge ]
  %step = phi float [ %begin, %entry ], [ %step.next, %merge ]
  %px = getelementptr float, ptr %x, i64 %i
  %odd = trunc i64 %i to i1
  br i1 %odd, label %first, label %merge
first:
  %a = load float, ptr %px
  br label %merge
merge:
  %step.next = phi float [ %a, %first ], [ %step, %loop ]
  %py = getelementptr float, ptr %y, i64 %i
  store float %step.next, ptr %py
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_changed_behind(
; CHECK:         %kept = phi float [ %a, %first ], [ %step, %loop ]
define void @adgen_body_changed_behind(ptr %x, ptr %y, float %begin, i1 %kind, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %step = phi float [ %begin, %entry ], [ %step.next, %latch ]
  %px = getelementptr float, ptr %x, i64 %i
  br i1 %kind, label %first, label %merge
first:
  %a = load float, ptr %px
  br label %merge
merge:
  %kept = phi float [ %a, %first ], [ %step, %loop ]
  %py = getelementptr float, ptr %y, i64 %i
  store float %kept, ptr %py
  %odd = trunc i64 %i to i1
  br i1 %odd, label %other, label %latch
other:
  %b = load float, ptr %px
  br label %latch
latch:
  %step.next = phi float [ %kept, %merge ], [ %b, %other ]
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
