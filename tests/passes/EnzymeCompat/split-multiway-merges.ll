; Where three or more ways meet, those that come from under one branch meet first, in a block that keeps a call until Enzyme has run. The header of
; a loop, and two ways, stay as they are.
;
; RUN: %opt -passes=adgen-split-multiway-merges -S %s | %filecheck %s
; RUN: %opt -passes=adgen-split-multiway-merges,adgen-strip-guards -S %s | %filecheck %s --check-prefix=AFTER

; AFTER-NOT: adgen_pin_join

; if (i >= n || mask[i]) return; ...
; CHECK-LABEL: define void @early_return(
; CHECK:       inside:
; CHECK:         br i1 %masked, label %end.join, label %work
; CHECK:       work:
; CHECK:         br label %end.join
; CHECK:       end.join:
; CHECK-NEXT:    call void @adgen_pin_join()
; CHECK-NEXT:    br label %end
; CHECK:       end:
; CHECK-NEXT:    ret void
define void @early_return(ptr %x, ptr %mask, i64 %i, i64 %n) {
entry:
  %outside = icmp sge i64 %i, %n
  br i1 %outside, label %end, label %inside
inside:
  %at = getelementptr i8, ptr %mask, i64 %i
  %mark = load i8, ptr %at
  %masked = icmp ne i8 %mark, 0
  br i1 %masked, label %end, label %work
work:
  store double 1.0, ptr %x
  br label %end
end:
  ret void
}

; CHECK-LABEL: define double @chosen(
; CHECK:       end.join:
; CHECK-NEXT:    [[INNER:%.*]] = phi double [ 3.000000e+00, %third ], [ 2.000000e+00, %second ]
; CHECK-NEXT:    call void @adgen_pin_join()
; CHECK:       end:
; CHECK-NEXT:    phi double [ 1.000000e+00, %first ], [ [[INNER]], %end.join ]
define double @chosen(i1 %a, ptr %b) {
entry:
  br i1 %a, label %first, label %ask
first:
  br label %end
ask:
  %c = load i1, ptr %b
  br i1 %c, label %second, label %third
second:
  br label %end
third:
  br label %end
end:
  %v = phi double [ 1.0, %first ], [ 2.0, %second ], [ 3.0, %third ]
  ret double %v
}

; Ways that have met in front since, with another one between them, are led there again before.
; CHECK-LABEL: define double @between(
; CHECK:       end.join:
; CHECK-NEXT:    [[INNER:%.*]] = phi double [ 3.000000e+00, %third ], [ 2.000000e+00, %second ]
; CHECK-NEXT:    call void @adgen_pin_join()
; CHECK:       end:
; CHECK-NEXT:    phi double [ 1.000000e+00, %entry ], [ [[INNER]], %end.join ]
define double @between(i1 %a, ptr %b) {
entry:
  br i1 %a, label %front, label %ask
ask:
  %c = load i1, ptr %b
  br i1 %c, label %second, label %third
second:
  br label %end
third:
  br label %front
front:
  %f = phi double [ 1.0, %entry ], [ 3.0, %third ]
  call void @adgen_pin_join()
  br label %end
end:
  %v = phi double [ %f, %front ], [ 2.0, %second ]
  ret double %v
}
declare void @adgen_pin_join()

; CHECK-LABEL: define void @untouched(
; CHECK-NOT:     adgen_pin_join
; CHECK:         ret void
define void @untouched(ptr %x, i1 %a, i1 %b) {
entry:
  br label %loop
loop:
  br i1 %a, label %loop, label %next
next:
  br i1 %b, label %loop, label %end
end:
  ret void
}

; Four ways: the last two of them meet first, then those with the second.
; CHECK-LABEL: define void @four(
; CHECK:         br i1 %a, label %end, label %second
; CHECK:         br i1 %b, label %[[OUTER:.*]], label %third
; CHECK:         br i1 %c, label %[[INNER:.*]], label %last
; CHECK:         br label %[[INNER]]
; CHECK:       [[INNER]]:
; CHECK-NEXT:    call void @adgen_pin_join()
; CHECK-NEXT:    br label %[[OUTER]]
; CHECK:       [[OUTER]]:
; CHECK-NEXT:    call void @adgen_pin_join()
; CHECK-NEXT:    br label %end
define void @four(ptr %x, i1 %a, i1 %b, i1 %c) {
entry:
  br i1 %a, label %end, label %second
second:
  br i1 %b, label %end, label %third
third:
  br i1 %c, label %end, label %last
last:
  store double 1.0, ptr %x
  br label %end
end:
  ret void
}

; What has no derivative has none where some of its ways meet before.
; CHECK-LABEL: define double @inactive(
; CHECK:       end.join:
; CHECK-NEXT:    phi double [ 3.000000e+00, %third ], [ 2.000000e+00, %second ], !enzyme_inactive_val
; CHECK-NEXT:    phi double [ 6.000000e+00, %third ], [ 5.000000e+00, %second ]{{$}}
define double @inactive(i1 %a, i1 %b) {
entry:
  br i1 %a, label %end, label %second
second:
  br i1 %b, label %end, label %third
third:
  br label %end
end:
  %chosen = phi double [ 1.0, %entry ], [ 2.0, %second ], [ 3.0, %third ], !enzyme_inactive_val !0
  %other = phi double [ 4.0, %entry ], [ 5.0, %second ], [ 6.0, %third ]
  %sum = fadd double %chosen, %other
  ret double %sum
}
!0 = !{}
