; Divisions of integers leave loops in which they stay the same, whatever decides about them there; where there is no quotient, they are by one.
;
; RUN: %opt -passes=adgen-hoist-divisions -S %s | %filecheck %s

; CHECK-LABEL: define void @indices(
; CHECK:       before:
; CHECK:         [[N:%.*]] = freeze i32 %n
; CHECK:         [[ZERO:%.*]] = icmp eq i32 [[N]], 0
; CHECK:         [[LESS:%.*]] = icmp eq i32 [[N]], -1
; CHECK:         [[LEAST:%.*]] = icmp eq i32 {{.*}}, -2147483648
; CHECK:         [[DIVISOR:%.*]] = select i1 {{.*}}, i32 1, i32 [[N]]
; CHECK:         [[ROW:%.*]] = sdiv i32 {{.*}}, [[DIVISOR]]
; CHECK:         srem i32 [[ROW]], {{.*}}
; CHECK-NEXT:    br label %outer
; CHECK:       yes:
; CHECK-NOT:     sdiv
; CHECK:         udiv i32 %i, %n
; CHECK-LABEL: define void @no_gradient(
; CHECK:       yes:
; CHECK-NEXT:    sdiv
define void @indices(ptr "adgen-shadow" %d_x, i32 %at, i32 %n, i32 %heads, i1 %c, float %v) "adgen-activity"="duplicated:const:const:const:const:const" {
before:
  br label %outer
outer:
  %o = phi i32 [ 0, %before ], [ %o.next, %outer.latch ]
  br label %loop
loop:
  %i = phi i32 [ 0, %outer ], [ %next, %latch ]
  br i1 %c, label %yes, label %latch
yes:
  %row = sdiv i32 %at, %n
  %head = srem i32 %row, %heads
  %other = udiv i32 %i, %n
  %place = add i32 %head, %other
  %wide = sext i32 %place to i64
  %element = getelementptr float, ptr %d_x, i64 %wide
  %1 = atomicrmw fadd ptr %element, float %v monotonic
  br label %latch
latch:
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 10
  br i1 %done, label %outer.latch, label %loop
outer.latch:
  %o.next = add i32 %o, 1
  %last = icmp eq i32 %o.next, 10
  br i1 %last, label %end, label %outer
end:
  ret void
}
define void @no_gradient(ptr %x, i32 %at, i32 %n, i1 %c) {
before:
  br label %loop
loop:
  %i = phi i32 [ 0, %before ], [ %next, %latch ]
  br i1 %c, label %yes, label %latch
yes:
  %row = sdiv i32 %at, %n
  store i32 %row, ptr %x
  br label %latch
latch:
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 10
  br i1 %done, label %end, label %loop
end:
  ret void
}
