; What a loop adds to a pointer is computed with all bits; what is the same in all iterations, or may overflow, stays.
; A number in two digits is that number.
;
; RUN: %opt -passes=adgen-widen-steps -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_walk(
; CHECK:         %[[ROW:.*]] = sext i32 %row to i64
; CHECK:         %[[I:.*]] = sext i32 %i to i64
; CHECK:         %[[THIRD:.*]] = mul nsw i64 %[[I]], 3
; CHECK:         %[[STEP:.*]] = add nsw i64 %[[ROW]], %[[THIRD]]
; CHECK:         %p.next = getelementptr float, ptr %p, i64 %[[STEP]]
; CHECK:         %other.next = getelementptr float, ptr %other, i64 %wide.open
define void @adgen_body_walk(ptr %x, ptr %y, i32 %row, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %p = phi ptr [ %x, %entry ], [ %p.next, %loop ]
  %other = phi ptr [ %y, %entry ], [ %other.next, %loop ]
  %three = mul nsw i32 %i, 3
  %sum = add nsw i32 %row, %three
  %wide = sext i32 %sum to i64
  %p.next = getelementptr float, ptr %p, i64 %wide
  store float 1.0, ptr %p.next
  %open = add i32 %row, %i
  %wide.open = sext i32 %open to i64
  %other.next = getelementptr float, ptr %other, i64 %wide.open
  store float 1.0, ptr %other.next
  %i.next = add i32 %i, %n
  %more = icmp slt i32 %i.next, 1000
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @adgen_body_digits(
; CHECK:         %[[BASE:.*]] = sext i32 %base to i64
; CHECK:         %[[I:.*]] = sext i32 %i to i64
; CHECK:         %[[STEP:.*]] = add nsw i64 %[[BASE]], %[[I]]
; CHECK:         getelementptr float, ptr %p, i64 %[[STEP]]
define void @adgen_body_digits(ptr %x, i32 %base, i32 %k, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %p = phi ptr [ %x, %entry ], [ %p.next, %loop ]
  %high = sdiv i32 %i, %k
  %low = srem i32 %i, %k
  %tens = mul nsw i32 %high, %k
  %most = add nsw i32 %base, %tens
  %sum = add nsw i32 %most, %low
  %wide = sext i32 %sum to i64
  %p.next = getelementptr float, ptr %p, i64 %wide
  store float 1.0, ptr %p.next
  %i.next = add i32 %i, %n
  %more = icmp slt i32 %i.next, 1000
  br i1 %more, label %loop, label %end
end:
  ret void
}
