; Divisions that stay the same in a loop move in front of it, out of branches, too, and each is done once. Where nobody would
; divide, the divisor is one.
;
; RUN: %opt -passes=adgen-hoist-divisions,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @place__gradient(
; CHECK:       entry:
; CHECK-NEXT:    [[N:%.*]] = freeze i32 %width
; CHECK-NEXT:    [[ZERO:%.*]] = icmp eq i32 [[N]], 0
; CHECK-NEXT:    [[ONE:%.*]] = select i1 [[ZERO]], i32 1, i32 [[N]]
; CHECK-NEXT:    [[ROW:%.*]] = udiv i32 %number, [[ONE]]
; CHECK-NEXT:    %twice = shl i32 [[ROW]], 1
; CHECK:         [[X:%.*]] = freeze i32 %twice
; CHECK:         [[LEAST:%.*]] = icmp eq i32 [[X]], -2147483648
; CHECK-NEXT:    [[MINUS:%.*]] = icmp eq i32 {{%.*}}, -1
; CHECK:         %signed = srem i32 [[X]],
; CHECK-NEXT:    br label %loop
; CHECK:       loop:
; CHECK-NOT:     udiv
; CHECK:         %changing = udiv i32 %i, %width
; CHECK-NOT:     {{div|rem}}
; CHECK:         ret void
define ptx_kernel void @place__gradient(ptr noalias %x, ptr noalias %y, i32 %number, i32 %width, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %after ]
  %here = getelementptr i1, ptr %y, i32 %i
  %is = load i1, ptr %here
  br i1 %is, label %one, label %other
one:
  %row = udiv i32 %number, %width
  %twice = shl i32 %row, 1
  %signed = srem i32 %twice, %width
  %to = getelementptr i32, ptr %x, i32 %signed
  store i32 %i, ptr %to
  br label %after
other:
  %again = udiv i32 %number, %width
  %there = getelementptr i32, ptr %x, i32 %again
  %changing = udiv i32 %i, %width
  store i32 %changing, ptr %there
  br label %after
after:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; Not what is read in the loop, what only a branch divides by, nor in a primal.
; CHECK-LABEL: define ptx_kernel void @read__gradient(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    br label %loop
; CHECK:         udiv i32 %read, %width
define ptx_kernel void @read__gradient(ptr noalias %x, i32 %width, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %here = getelementptr i32, ptr %x, i32 %i
  %read = load i32, ptr %here
  %row = udiv i32 %read, %width
  store i32 %row, ptr %here
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @branch__gradient(
; CHECK:       some:
; CHECK-NEXT:    %row = udiv i32 %number, %width
define ptx_kernel void @branch__gradient(ptr noalias %x, i32 %number, i32 %width) {
entry:
  %any = icmp ne i32 %width, 0
  br i1 %any, label %some, label %exit
some:
  %row = udiv i32 %number, %width
  store i32 %row, ptr %x
  br label %exit
exit:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    br label %loop
define ptx_kernel void @primal(ptr noalias %x, i32 %number, i32 %width, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %row = udiv i32 %number, %width
  %here = getelementptr i32, ptr %x, i32 %i
  store i32 %row, ptr %here
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
