; A loop whose index is divided runs by rows, also where it counts down; what it carries is carried on from row to row.
; Where the index or the divisor is negative, a row has one element.
;
; RUN: %opt -passes='adgen-nest-collapsed-loops,verify' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define double @up(
; CHECK:       ahead:
; CHECK-NEXT:    %[[LEFT:.*]] = sub i64 %last, %first
; CHECK-NEXT:    %[[ANY:.*]] = icmp slt i64 %first, %last
; CHECK-NEXT:    %[[FURTHER:.*]] = select i1 %[[ANY]], i64 %[[LEFT]], i64 0
; CHECK-NEXT:    %iterations = add i64 %[[FURTHER]], 1
; CHECK-NEXT:    br label %row
; CHECK:       row:
; CHECK-DAG:     %row.begin = phi i64 [ %first, %ahead ], [ %{{.*}}, %row.end ]
; CHECK-DAG:     %row.left = phi i64 [ %iterations, %ahead ], [ %{{.*}}, %row.end ]
; CHECK-DAG:     %s.row = phi double [ 0.000000e+00, %ahead ], [ %s.last, %row.end ]
; CHECK:         %row.index = sdiv i64 %row.begin, %n
; CHECK-NEXT:    %row.base = mul i64 %row.index, %n
; CHECK-NEXT:    %[[WITHIN:.*]] = sub i64 %row.begin, %row.base
; CHECK-NEXT:    %[[ROOM:.*]] = sub i64 %n, %[[WITHIN]]
; CHECK-NEXT:    %[[BEGUN:.*]] = icmp sge i64 %row.begin, 0
; CHECK-NEXT:    %[[POSITIVE:.*]] = icmp sgt i64 %n, 0
; CHECK-NEXT:    %[[COUNTS:.*]] = and i1 %[[BEGUN]], %[[POSITIVE]]
; CHECK-NEXT:    %[[MOST:.*]] = select i1 %[[COUNTS]], i64 %[[ROOM]], i64 1
; CHECK-NEXT:    %row.length = call i64 @llvm.umin.i64(i64 %[[MOST]], i64 %row.left)
; CHECK:       loop:
; CHECK-NOT:     div
; CHECK-NOT:     rem
; CHECK:         %row.place = sub i64 %x, %row.base
; CHECK:         getelementptr double, ptr %a, i64 %row.index
; CHECK:         %[[MORE:.*]] = icmp ult i64 %row.next, %row.length
; CHECK-NEXT:    br i1 %[[MORE]], label %loop, label %row.end
; CHECK:       row.end:
; CHECK:         br i1 %{{.*}}, label %end, label %row
define double @up(ptr %a, i64 %first, i64 %last, i64 %n) {
ahead:
  br label %loop
loop:
  %x = phi i64 [ %first, %ahead ], [ %next, %loop ]
  %s = phi double [ 0.0, %ahead ], [ %sum, %loop ]
  %i = sdiv i64 %x, %n
  %j = srem i64 %x, %n
  %at = getelementptr double, ptr %a, i64 %i
  %u = load double, ptr %at
  %of = getelementptr double, ptr %a, i64 %j
  %v = load double, ptr %of
  %uv = fmul double %u, %v
  %sum = fadd double %s, %uv
  %next = add nsw i64 %x, 1
  %more = icmp slt i64 %x, %last
  br i1 %more, label %loop, label %end
end:
  %all = phi double [ %sum, %loop ]
  ret double %all
}

; CHECK-LABEL: define void @down(
; CHECK:         %[[FIRST:.*]] = add i64 %from, %count
; CHECK:         %[[ROOM:.*]] = add i64 %{{.*}}, 1
; CHECK:         %row.length
; CHECK:       loop:
; CHECK-NOT:     div
; CHECK:         store double 0.000000e+00
define void @down(ptr %a, i64 %from, i64 %count, i64 %n) {
ahead:
  br label %loop
loop:
  %c = phi i64 [ %count, %ahead ], [ %next, %loop ]
  %x = add i64 %from, %c
  %i = udiv i64 %x, %n
  %at = getelementptr double, ptr %a, i64 %i
  store double 0.0, ptr %at
  %next = add i64 %c, -1
  %more = icmp ne i64 %c, 0
  br i1 %more, label %loop, label %end
end:
  ret void
}

; By a short row whose length is known, and of what does not count by one, divisions stay.
; CHECK-LABEL: define void @stays(
; CHECK-NOT:     row
; CHECK:         udiv i64 %x, 3
; CHECK:         udiv i64 %twice, %n
define void @stays(ptr %a, i64 %count, i64 %n) {
ahead:
  br label %loop
loop:
  %x = phi i64 [ 0, %ahead ], [ %next, %loop ]
  %i = udiv i64 %x, 3
  %twice = mul i64 %x, 2
  %j = udiv i64 %twice, %n
  %ij = add i64 %i, %j
  %at = getelementptr double, ptr %a, i64 %ij
  store double 0.0, ptr %at
  %next = add i64 %x, 1
  %more = icmp ult i64 %x, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}
