; What a loop of unknown length keeps is one record an iteration, and its block grows once; what is not only an element of
; a block stays by itself.
;
; RUN: %opt -passes=adgen-merge-growing-caches -S %s | %filecheck %s

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @other(ptr)

; A double, a float and a flag take 16 bytes.
; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK:         %first = phi ptr [ null, %entry ], [ %first.grown, %kept ]
; CHECK:         br i1 %full, label %grow.first, label %after.first
; CHECK:       grow.first:
; CHECK:         %first.bytes = shl i64 16, %shift
; CHECK:         call void @llvm.memcpy{{.*}}(ptr %first.new, ptr %first, i64 %first.old, i1 false)
; CHECK:       after.first:
; CHECK:         %[[A:.*]] = getelementptr inbounds [16 x i8], ptr %first.grown, i64 %iv
; CHECK:         store double %x, ptr %[[A]]
; CHECK:         br label %after.second
; CHECK-NOT:     malloc
; CHECK:       after.second:
; CHECK:         %[[B:.*]] = getelementptr inbounds [16 x i8], ptr %first.grown, i64 %iv
; CHECK:         %[[C:.*]] = getelementptr inbounds i8, ptr %[[B]], i64 8
; CHECK:         store float %y, ptr %[[C]]
; CHECK:         br label %kept
; CHECK:       kept:
; CHECK:         %[[D:.*]] = getelementptr inbounds [16 x i8], ptr %first.grown, i64 %iv
; CHECK:         %[[E:.*]] = getelementptr inbounds i8, ptr %[[D]], i64 12
; CHECK:         store i8 1, ptr %[[E]]
; CHECK:       back:
; CHECK:         %[[F:.*]] = getelementptr inbounds [16 x i8], ptr %first.left, i64 %again
; CHECK:         load double, ptr %[[F]]
; CHECK:         %[[G:.*]] = getelementptr inbounds [16 x i8], ptr %second.left, i64 %again
; CHECK:         %[[H:.*]] = getelementptr inbounds i8, ptr %[[G]], i64 8
; CHECK:         load float, ptr %[[H]]
; CHECK:         call void @free(ptr %first.left)
; CHECK-NOT:     free
define void @adgen_gradient_k(i1 %enters, double %x, float %y, i64 %again) {
entry:
  br i1 %enters, label %loop, label %back
loop:
  %first = phi ptr [ null, %entry ], [ %first.grown, %kept ]
  %second = phi ptr [ null, %entry ], [ %second.grown, %kept ]
  %third = phi ptr [ null, %entry ], [ %third.grown, %kept ]
  %iv = phi i64 [ 0, %entry ], [ %next, %kept ]
  %next = add nuw i64 %iv, 1
  %odd = trunc i64 %next to i1
  %ones = call i64 @llvm.ctpop.i64(i64 %next)
  %few = icmp ult i64 %ones, 3
  %full = and i1 %few, %odd
  %zeros = call i64 @llvm.ctlz.i64(i64 %next, i1 true)
  %shift = sub i64 64, %zeros
  br i1 %full, label %grow.first, label %after.first
grow.first:
  %first.bytes = shl i64 8, %shift
  %first.old = lshr i64 %first.bytes, 1
  %first.new = call ptr @malloc(i64 %first.bytes)
  %first.rest = getelementptr i8, ptr %first.new, i64 %first.old
  call void @llvm.memset.p0.i64(ptr %first.rest, i8 0, i64 %first.old, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %first.new, ptr %first, i64 %first.old, i1 false)
  br label %after.first
after.first:
  %first.grown = phi ptr [ %first.new, %grow.first ], [ %first, %loop ]
  %a = getelementptr double, ptr %first.grown, i64 %iv
  store double %x, ptr %a
  br i1 %full, label %grow.second, label %after.second
grow.second:
  %second.bytes = shl i64 4, %shift
  %second.old = lshr i64 %second.bytes, 1
  %second.new = call ptr @malloc(i64 %second.bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %second.new, ptr %second, i64 %second.old, i1 false)
  br label %after.second
after.second:
  %second.grown = phi ptr [ %second.new, %grow.second ], [ %second, %after.first ]
  %b = getelementptr float, ptr %second.grown, i64 %iv
  store float %y, ptr %b
  br i1 %full, label %grow.third, label %kept
grow.third:
  %third.bytes = shl i64 1, %shift
  %third.old = lshr i64 %third.bytes, 1
  %third.new = call ptr @malloc(i64 %third.bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %third.new, ptr %third, i64 %third.old, i1 false)
  br label %kept
kept:
  %third.grown = phi ptr [ %third.new, %grow.third ], [ %third, %after.second ]
  %c = getelementptr i8, ptr %third.grown, i64 %iv
  store i8 1, ptr %c
  %more = fcmp olt double %x, 4.0
  br i1 %more, label %loop, label %left
left:
  br label %back
back:
  %first.left = phi ptr [ undef, %entry ], [ %first.grown, %left ]
  %second.left = phi ptr [ undef, %entry ], [ %second.grown, %left ]
  %f = getelementptr double, ptr %first.left, i64 %again
  %f.value = load double, ptr %f
  %g = getelementptr float, ptr %second.left, i64 %again
  %g.value = load float, ptr %g
  call void @free(ptr %first.left)
  call void @free(ptr %second.left)
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_handed_on(
; CHECK:         malloc
; CHECK:         malloc
define void @adgen_gradient_handed_on(double %x) {
entry:
  br label %loop
loop:
  %first = phi ptr [ null, %entry ], [ %first.grown, %kept ]
  %second = phi ptr [ null, %entry ], [ %second.grown, %kept ]
  %iv = phi i64 [ 0, %entry ], [ %next, %kept ]
  %next = add nuw i64 %iv, 1
  %full = trunc i64 %next to i1
  br i1 %full, label %grow.first, label %after.first
grow.first:
  %first.bytes = shl i64 8, %next
  %first.new = call ptr @malloc(i64 %first.bytes)
  br label %after.first
after.first:
  %first.grown = phi ptr [ %first.new, %grow.first ], [ %first, %loop ]
  %a = getelementptr double, ptr %first.grown, i64 %iv
  store double %x, ptr %a
  br i1 %full, label %grow.second, label %kept
grow.second:
  %second.bytes = shl i64 8, %next
  %second.new = call ptr @malloc(i64 %second.bytes)
  br label %kept
kept:
  %second.grown = phi ptr [ %second.new, %grow.second ], [ %second, %after.first ]
  call void @other(ptr %second.grown)
  %more = fcmp olt double %x, 4.0
  br i1 %more, label %loop, label %left
left:
  ret void
}

; The blocks of an inner loop, whose addresses the outer one keeps.
; CHECK-LABEL: define void @adgen_gradient_nested(
; CHECK:         shl i64 16, %next
; CHECK-NOT:     malloc(i64 %second.bytes)
; CHECK:         store ptr %first.grown, ptr %second.slot
; CHECK:         %[[B:.*]] = getelementptr inbounds [16 x i8], ptr %first.grown, i64 %iv
; CHECK:         getelementptr inbounds i8, ptr %[[B]], i64 8
; CHECK:         %[[C:.*]] = getelementptr inbounds [16 x i8], ptr %second.again, i64 %again
; CHECK:         getelementptr inbounds i8, ptr %[[C]], i64 8
define void @adgen_gradient_nested(double %x, i64 %outer, i64 %again) {
entry:
  %firsts = call ptr @malloc(i64 80)
  %seconds = call ptr @malloc(i64 80)
  br label %loop
loop:
  %iv = phi i64 [ 0, %entry ], [ %next, %kept ]
  %next = add nuw i64 %iv, 1
  %full = trunc i64 %next to i1
  %first.slot = getelementptr ptr, ptr %firsts, i64 %outer
  %second.slot = getelementptr ptr, ptr %seconds, i64 %outer
  %first = load ptr, ptr %first.slot
  br i1 %full, label %grow.first, label %after.first
grow.first:
  %first.bytes = shl i64 8, %next
  %first.new = call ptr @malloc(i64 %first.bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %first.new, ptr %first, i64 %iv, i1 false)
  br label %after.first
after.first:
  %first.grown = phi ptr [ %first.new, %grow.first ], [ %first, %loop ]
  store ptr %first.grown, ptr %first.slot
  %a = getelementptr double, ptr %first.grown, i64 %iv
  store double %x, ptr %a
  %second = load ptr, ptr %second.slot
  br i1 %full, label %grow.second, label %kept
grow.second:
  %second.bytes = shl i64 8, %next
  %second.new = call ptr @malloc(i64 %second.bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %second.new, ptr %second, i64 %iv, i1 false)
  br label %kept
kept:
  %second.grown = phi ptr [ %second.new, %grow.second ], [ %second, %after.first ]
  store ptr %second.grown, ptr %second.slot
  %b = getelementptr double, ptr %second.grown, i64 %iv
  store double %x, ptr %b
  %more = fcmp olt double %x, 4.0
  br i1 %more, label %loop, label %left
left:
  %again.slot = getelementptr ptr, ptr %seconds, i64 %outer
  %second.again = load ptr, ptr %again.slot
  %c = getelementptr double, ptr %second.again, i64 %again
  %c.value = load double, ptr %c
  ret void
}
