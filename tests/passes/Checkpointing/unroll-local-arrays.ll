; A short loop whose counter says which element of a local array it uses is to be unrolled, also where a table of constants is between. A
; loop that is long, or whose array goes elsewhere, stays.
;
; RUN: %opt -passes='adgen-unroll-local-arrays' -S %s | %filecheck %s

@table = internal constant [4 x i32] [i32 2, i32 0, i32 3, i32 1]

; CHECK-LABEL: define double @by_table(
; CHECK:         br i1 %done, label %exit, label %loop, !llvm.loop ![[FULL:[0-9]+]]
define double @by_table(double %x) {
entry:
  %array = alloca [4 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %where = getelementptr i32, ptr @table, i64 %i
  %index = load i32, ptr %where
  %wide = sext i32 %index to i64
  %element = getelementptr double, ptr %array, i64 %wide
  store double %x, ptr %element
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4
  br i1 %done, label %exit, label %loop
exit:
  %sum = load double, ptr %array
  ret double %sum
}

; CHECK-LABEL: define void @long(
; CHECK:         br i1 %done, label %exit, label %loop{{$}}
define void @long(double %x) {
entry:
  %array = alloca [100 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %x, ptr %element
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 100
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; CHECK-LABEL: define void @handed_on(
; CHECK:         br i1 %done, label %exit, label %loop{{$}}
define void @handed_on(double %x) {
entry:
  %array = alloca [4 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %x, ptr %element
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4
  br i1 %done, label %exit, label %loop
exit:
  call void @use(ptr %array)
  ret void
}

declare void @use(ptr)
; CHECK: ![[FULL]] = distinct !{![[FULL]], ![[UNROLL:[0-9]+]]}
; CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.full", i32 0}
