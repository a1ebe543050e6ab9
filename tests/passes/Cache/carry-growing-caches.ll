; A loop inside another carries where its growing cache lies, and writes it to the outer loop's cache where it grows.
;
; RUN: %opt -passes='adgen-carry-growing-caches,verify' -S %s | %filecheck %s

; Every iteration writes what it keeps: nothing is filled with zeros.
; CHECK-LABEL: define void @adgen_gradient_inner(
; CHECK:       before:
; CHECK:         store ptr null, ptr %slot
; CHECK-NEXT:    [[FIRST:%.*]] = load ptr, ptr %slot
; CHECK-NEXT:    store ptr [[FIRST]], ptr %slot
; CHECK-NEXT:    br label %loop
; CHECK:       loop:
; CHECK-NEXT:    %carried = phi ptr [ [[FIRST]], %before ], [ %grown, %behind ]
; CHECK-NOT:     load
; CHECK:       grow:
; CHECK:         %new = call ptr @malloc(
; CHECK-NOT:     memset
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %carried,
; CHECK-NEXT:    store ptr %new, ptr %slot
; CHECK:       behind:
; CHECK-NEXT:    %grown = phi ptr [ %new, %grow ], [ %carried, %loop ]
; CHECK-NEXT:    %at = getelementptr
; CHECK-NEXT:    store float
define void @adgen_gradient_inner(ptr %outer.in, i64 %number, i64 %n, float %v) {
entry:
  %outer = call ptr @malloc(i64 4096)
  br label %before
before:
  %record = getelementptr inbounds [16 x i8], ptr %outer, i64 %number
  %slot = getelementptr inbounds i8, ptr %record, i64 8
  store ptr null, ptr %slot
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %behind ]
  %old = load ptr, ptr %slot
  %next = add i64 %i, 1
  %pop = call i64 @llvm.ctpop.i64(i64 %next)
  %full = icmp ult i64 %pop, 2
  br i1 %full, label %grow, label %behind
grow:
  %bytes = shl i64 4, %next
  %new = call ptr @malloc(i64 %bytes)
  %rest = getelementptr inbounds i8, ptr %new, i64 %next
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 %next, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %next, i1 false)
  br label %behind
behind:
  %grown = phi ptr [ %new, %grow ], [ %old, %loop ]
  store ptr %grown, ptr %slot
  %at = getelementptr inbounds float, ptr %grown, i64 %i
  store float %v, ptr %at
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Some iterations write nothing: what they leave is zero as before.
; CHECK-LABEL: define void @adgen_gradient_some(
; CHECK:         %carried = phi ptr
; CHECK:         call void @llvm.memset
define void @adgen_gradient_some(i64 %number, i64 %n, float %v) {
entry:
  %outer = call ptr @malloc(i64 4096)
  br label %before
before:
  %slot = getelementptr inbounds ptr, ptr %outer, i64 %number
  store ptr null, ptr %slot
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %turn ]
  %old = load ptr, ptr %slot
  %next = add i64 %i, 1
  %full = icmp ult i64 %next, 9
  br i1 %full, label %grow, label %behind
grow:
  %new = call ptr @malloc(i64 %next)
  call void @llvm.memset.p0.i64(ptr %new, i8 0, i64 %next, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %next, i1 false)
  br label %behind
behind:
  %grown = phi ptr [ %new, %grow ], [ %old, %loop ]
  store ptr %grown, ptr %slot
  %is = icmp ult i64 %i, %number
  br i1 %is, label %keeps, label %turn
keeps:
  %at = getelementptr inbounds float, ptr %grown, i64 %i
  store float %v, ptr %at
  br label %turn
turn:
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; A block into which another one was merged is kept twice, and some iterations write to it by the second address.
; CHECK-LABEL: define void @adgen_gradient_merged(
; CHECK:       before:
; CHECK:         [[FIRST:%.*]] = load ptr, ptr %slot
; CHECK-NEXT:    store ptr [[FIRST]], ptr %second
; CHECK-NEXT:    store ptr [[FIRST]], ptr %slot
; CHECK:       loop:
; CHECK-NEXT:    %carried = phi ptr
; CHECK-NOT:     load
; CHECK:         call void @llvm.memset
; CHECK-DAG:     store ptr %new, ptr %slot
; CHECK-DAG:     store ptr %new, ptr %second
; CHECK:       keeps:
; CHECK-NEXT:    %at = getelementptr inbounds float, ptr %grown, i64 %i
define void @adgen_gradient_merged(i64 %number, i64 %n, float %v) {
entry:
  %outer = call ptr @malloc(i64 4096)
  br label %before
before:
  %record = getelementptr inbounds [16 x i8], ptr %outer, i64 %number
  %slot = getelementptr inbounds i8, ptr %record, i64 8
  store ptr null, ptr %slot
  %second = getelementptr inbounds [16 x i8], ptr %outer, i64 %number
  store ptr null, ptr %second
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %turn ]
  %old = load ptr, ptr %slot
  %next = add i64 %i, 1
  %full = icmp ult i64 %next, 9
  br i1 %full, label %grow, label %behind
grow:
  %new = call ptr @malloc(i64 %next)
  call void @llvm.memset.p0.i64(ptr %new, i8 0, i64 %next, i1 false)
  br label %behind
behind:
  %grown = phi ptr [ %new, %grow ], [ %old, %loop ]
  store ptr %grown, ptr %slot
  %unused = load ptr, ptr %second
  store ptr %grown, ptr %second
  %is = icmp ult i64 %i, %number
  br i1 %is, label %keeps, label %turn
keeps:
  %again = load ptr, ptr %second
  %at = getelementptr inbounds float, ptr %again, i64 %i
  store float %v, ptr %at
  br label %turn
turn:
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Something else of the loop may write to the element: it is asked each time.
; CHECK-LABEL: define void @adgen_gradient_written(
; CHECK-NOT:     %carried
; CHECK:         ret void
define void @adgen_gradient_written(i64 %number, i64 %n, float %v) {
entry:
  %outer = call ptr @malloc(i64 4096)
  br label %before
before:
  %slot = getelementptr inbounds ptr, ptr %outer, i64 %number
  store ptr null, ptr %slot
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %behind ]
  %old = load ptr, ptr %slot
  %next = add i64 %i, 1
  %full = icmp ult i64 %next, 9
  br i1 %full, label %grow, label %behind
grow:
  %new = call ptr @malloc(i64 %next)
  br label %behind
behind:
  %grown = phi ptr [ %new, %grow ], [ %old, %loop ]
  store ptr %grown, ptr %slot
  %other = getelementptr inbounds ptr, ptr %outer, i64 %i
  store ptr null, ptr %other
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

declare ptr @malloc(i64)
declare i64 @llvm.ctpop.i64(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
