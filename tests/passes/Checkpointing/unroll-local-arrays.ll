; A short loop whose counter says which element of a local array it uses is to be unrolled, also where a table of constants is between. A
; loop that is long, or whose array goes elsewhere, stays. An inner loop is short if the counters around it say so (a triangle), and a loop
; with several exits if one of them does. A loop of any length in a short one stays, in each copy.
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

; SROA makes one address or the other of those at x[side + k] where a loop has two iterations.
; CHECK-LABEL: define double @by_choice(
; CHECK:         br i1 %again, label %loop, label %exit, !llvm.loop
define double @by_choice(double %x) {
entry:
  %array = alloca [3 x double]
  %second = getelementptr i8, ptr %array, i64 8
  store double %x, ptr %second
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = phi ptr [ %array, %entry ], [ %second, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %is.first = icmp eq i64 %i, 0
  %offset = select i1 %is.first, i64 0, i64 8
  %element = getelementptr i8, ptr %place, i64 %offset
  %number = load double, ptr %element
  %more = fadd double %sum, %number
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, 2
  br i1 %again, label %loop, label %exit
exit:
  ret double %more
}

; What a number from elsewhere chooses stays in memory.
; CHECK-LABEL: define double @by_flag(
; CHECK:         br i1 %again, label %loop, label %exit{{$}}
define double @by_flag(double %x, i1 %flag) {
entry:
  %array = alloca [3 x double]
  %second = getelementptr i8, ptr %array, i64 8
  store double %x, ptr %second
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = phi ptr [ %array, %entry ], [ %chosen, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %number = load double, ptr %place
  %chosen = select i1 %flag, ptr %array, ptr %second
  %more = fadd double %sum, %number
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, 2
  br i1 %again, label %loop, label %exit
exit:
  ret double %more
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

; A longer one is short enough where all elements have registers, as those of a query and of its sums in attention.
; CHECK-LABEL: define float @in_registers(
; CHECK:         br i1 %done, label %exit, label %loop, !llvm.loop
define float @in_registers(float %x) {
entry:
  %array = alloca [64 x float]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %element = getelementptr float, ptr %array, i64 %i
  store float %x, ptr %element
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 64
  br i1 %done, label %exit, label %loop
exit:
  %sum = load float, ptr %array
  ret float %sum
}

; CHECK-LABEL: define double @in_no_registers(
; CHECK:         br i1 %done, label %exit, label %loop{{$}}
define double @in_no_registers(double %x) {
entry:
  %array = alloca [41 x double]
  %other = alloca [41 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %x, ptr %element
  %beside = getelementptr double, ptr %other, i64 %i
  store double %x, ptr %beside
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 41
  br i1 %done, label %exit, label %loop
exit:
  %one = load double, ptr %array
  %two = load double, ptr %other
  %sum = fadd double %one, %two
  ret double %sum
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

; CHECK-LABEL: define double @triangle(
; CHECK:         br i1 %inner.done, label %rows.end, label %inner, !llvm.loop ![[INNER:[0-9]+]]
; CHECK:         br i1 %done, label %exit, label %rows, !llvm.loop ![[ROWS:[0-9]+]]
define double @triangle(double %x) {
entry:
  %array = alloca [5 x double]
  br label %rows
rows:
  %j = phi i64 [ 0, %entry ], [ %next, %rows.end ]
  %next = add nuw nsw i64 %j, 1
  %last = icmp eq i64 %j, 4
  br i1 %last, label %rows.end, label %inner
inner:
  %i = phi i64 [ %next, %rows ], [ %i.next, %inner ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %x, ptr %element
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp eq i64 %i.next, 5
  br i1 %inner.done, label %rows.end, label %inner
rows.end:
  %done = icmp eq i64 %next, 5
  br i1 %done, label %exit, label %rows
exit:
  %sum = load double, ptr %array
  ret double %sum
}

; CHECK-LABEL: define double @left_early(
; CHECK:         br i1 %done, label %exit, label %loop, !llvm.loop
define double @left_early(double %x, double %most) {
entry:
  %array = alloca [4 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %after ]
  %value = phi double [ %x, %entry ], [ %square, %after ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %value, ptr %element
  %square = fmul double %value, %value
  %too.much = fcmp ogt double %square, %most
  br i1 %too.much, label %exit, label %after
after:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4
  br i1 %done, label %exit, label %loop
exit:
  %sum = load double, ptr %array
  ret double %sum
}

; How often the inner loop runs is not known before the function is called.
; CHECK-LABEL: define double @of_any_length(
; CHECK:         br i1 %inner.done, label %rows.end, label %inner{{$}}
; CHECK:         br i1 %done, label %exit, label %rows{{$}}
define double @of_any_length(double %x, i64 %n) {
entry:
  %array = alloca [5 x double]
  br label %rows
rows:
  %j = phi i64 [ 0, %entry ], [ %next, %rows.end ]
  %next = add nuw nsw i64 %j, 1
  br label %inner
inner:
  %i = phi i64 [ %j, %rows ], [ %i.next, %inner ]
  %element = getelementptr double, ptr %array, i64 %i
  store double %x, ptr %element
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp uge i64 %i.next, %n
  br i1 %inner.done, label %rows.end, label %inner
rows.end:
  %done = icmp eq i64 %next, 5
  br i1 %done, label %exit, label %rows
exit:
  %sum = load double, ptr %array
  ret double %sum
}

; CHECK-LABEL: define double @with_a_loop_that_stays(
; CHECK:         br i1 %inner.done, label %axes.end, label %inner{{$}}
; CHECK:         br i1 %done, label %exit, label %axes, !llvm.loop
define double @with_a_loop_that_stays(ptr %x, i64 %n) {
entry:
  %array = alloca [3 x double]
  br label %axes
axes:
  %axis = phi i64 [ 0, %entry ], [ %next, %axes.end ]
  %element = getelementptr double, ptr %array, i64 %axis
  br label %inner
inner:
  %i = phi i64 [ 0, %axes ], [ %i.next, %inner ]
  %where = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %where
  %old = load double, ptr %element
  %sum = fadd double %old, %value
  store double %sum, ptr %element
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp uge i64 %i.next, %n
  br i1 %inner.done, label %axes.end, label %inner
axes.end:
  %next = add nuw nsw i64 %axis, 1
  %done = icmp eq i64 %next, 3
  br i1 %done, label %exit, label %axes
exit:
  %first = load double, ptr %array
  ret double %first
}

; Of two iterations LLVM has left no more than the two numbers of the counter: Jacobi's rotations of a 3 x 3 matrix.
; CHECK-LABEL: define double @pairs(
; CHECK:         br i1 %inner.done, label %rows.end, label %inner, !llvm.loop
; CHECK:         br i1 %first, label %rows, label %exit, !llvm.loop
define double @pairs(double %x) {
entry:
  %array = alloca [3 x double]
  br label %rows
rows:
  %first = phi i1 [ true, %entry ], [ false, %rows.end ]
  %p = phi i64 [ 0, %entry ], [ 1, %rows.end ]
  %begin = add nuw nsw i64 %p, 1
  br label %inner
inner:
  %q = phi i64 [ %begin, %rows ], [ %q.next, %inner ]
  %element = getelementptr double, ptr %array, i64 %q
  store double %x, ptr %element
  %q.next = add nuw nsw i64 %q, 1
  %inner.done = icmp eq i64 %q.next, 3
  br i1 %inner.done, label %rows.end, label %inner
rows.end:
  br i1 %first, label %rows, label %exit
exit:
  %sum = load double, ptr %array
  ret double %sum
}

declare void @use(ptr)
; CHECK: ![[FULL]] = distinct !{![[FULL]], ![[UNROLL:[0-9]+]]}
; CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.full", i32 0}
