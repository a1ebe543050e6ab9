; What loops of which an inner one is not counted leave behind is kept there: conditions and integers pass through a call, numbers through a
; variable. Where all loops are counted, and where one loop alone is left, nothing is kept.
;
; RUN: %opt -passes=adgen-hold-left-values -S %s | %filecheck %s
; RUN: %opt -passes="function(lcssa),adgen-hold-left-values" -S %s | %filecheck %s

; CHECK-LABEL: define double @left(
; CHECK:         %held = alloca double
; CHECK:       next:
; CHECK:       behind:
; CHECK:         %[[FOUND:.*]] = phi i1
; CHECK:         call i1 @adgen_hold_i1(i1 %[[FOUND]])
; CHECK:         store double
; CHECK-NEXT:    call void @adgen_pin_variable(ptr %held)
; CHECK-NEXT:    [[KEPT:%.*]] = load double, ptr %held
; CHECK:         fmul double [[KEPT]], [[KEPT]]
define double @left(ptr %x, i32 %n) {
entry:
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %go ]
  %from = getelementptr double, ptr %x, i32 %j
  %v = load double, ptr %from
  %found = fcmp ogt double %v, 1.0
  br i1 %found, label %next, label %go
go:
  %j.next = add nuw nsw i32 %j, 1
  %more = icmp slt i32 %j.next, 5
  br i1 %more, label %inner, label %next
next:
  %k.next = add nuw nsw i32 %k, 1
  %last = icmp sgt i32 %k, 2
  %stop = or i1 %last, %found
  br i1 %stop, label %behind, label %outer
behind:
  %square = fmul double %v, %v
  %result = select i1 %found, double %square, double 0.0
  ret double %result
}

; CHECK-LABEL: define double @counted(
; CHECK-NOT:     adgen_
; CHECK-NOT:     alloca
; CHECK:         ret double
define double @counted(ptr %x) {
entry:
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %from = getelementptr double, ptr %x, i32 %j
  %v = load double, ptr %from
  %j.next = add nuw nsw i32 %j, 1
  %more = icmp slt i32 %j.next, 5
  br i1 %more, label %inner, label %next
next:
  %k.next = add nuw nsw i32 %k, 1
  %last = icmp sgt i32 %k, 2
  br i1 %last, label %behind, label %outer
behind:
  %square = fmul double %v, %v
  ret double %square
}

; CHECK-LABEL: define double @one_loop(
; CHECK-NOT:     adgen_
; CHECK-NOT:     alloca
; CHECK:         ret double
define double @one_loop(ptr %x) {
entry:
  br label %loop
loop:
  %j = phi i32 [ 0, %entry ], [ %j.next, %loop ]
  %from = getelementptr double, ptr %x, i32 %j
  %v = load double, ptr %from
  %j.next = add nuw nsw i32 %j, 1
  %found = fcmp ogt double %v, 1.0
  br i1 %found, label %behind, label %loop
behind:
  %square = fmul double %v, %v
  ret double %square
}

; Addresses are no numbers, and are not kept as such; how far one is from another is a number.
; CHECK-LABEL: define i64 @addresses(
; CHECK:       behind:
; CHECK-NOT:     adgen_hold_i64(i64 %{{at|address}}
; CHECK:         call i64 @adgen_hold_i64(
; CHECK-NOT:     adgen_hold_i64
; CHECK:         ret i64
define i64 @addresses(ptr %x) {
entry:
  %first = ptrtoint ptr %x to i64
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %from = getelementptr double, ptr %x, i32 %j
  %address = ptrtoint ptr %from to i64
  %v = load double, ptr %from
  %j.next = add nuw nsw i32 %j, 1
  %more = fcmp ogt double %v, 1.0
  br i1 %more, label %inner, label %next
next:
  %at = phi i64 [ %address, %inner ]
  %apart = sub i64 %at, %first
  %k.next = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %k.next, 3
  br i1 %again, label %outer, label %behind
behind:
  %sum = add i64 %at, %apart
  ret i64 %sum
}
