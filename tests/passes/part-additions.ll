; What iterations add to several places of one array is kept, and added place after place, some iterations at a time.
;
; RUN: %opt -passes='adgen-part-additions,verify' -S %s | %filecheck %s

; The terms are computed first; two places with one term share what is kept. The loop goes on in 64 bits from where the last one ended.
; CHECK-LABEL: define void @neighbours(
; CHECK:         [[TERMS:%terms.*]] = alloca [256 x float], align 64
; CHECK:         [[RIGHT:%.*]] = getelementptr i8, ptr %a, i64 8
; CHECK:       some:
; CHECK-NEXT:    [[FIRST:%.*]] = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %[[LAST:.*]] ]
; CHECK-NEXT:    [[LEFT:%.*]] = sub nuw i64 {{%.*}}, [[FIRST]]
; CHECK-NEXT:    [[THESE:%.*]] = call i64 @llvm.umin.i64(i64 [[LEFT]], i64 256)
; CHECK-NEXT:    [[BEGIN:%.*]] = add i64 0, [[FIRST]]
; CHECK:       thread:
; CHECK-NEXT:    [[T:%.*]] = phi i64 [ 0, %some ], [ [[T1:%.*]], %thread ]
; CHECK-NEXT:    %i = phi i64 [ [[BEGIN]], %some ], [ %next, %thread ]
; CHECK:         %input = load float, ptr %from
; CHECK-NEXT:    %term = fmul float %input, 2.0
; CHECK:         [[KEPT:%.*]] = getelementptr inbounds float, ptr [[TERMS]], i64 [[T]]
; CHECK-NEXT:    store float %term, ptr [[KEPT]]
; CHECK-NOT:     fadd
; CHECK:         [[T1]] = add nuw i64 [[T]], 1
; CHECK-NEXT:    [[MORE:%.*]] = icmp ult i64 [[T1]], [[THESE]]
; CHECK-NEXT:    br i1 [[MORE]], label %thread, label %[[ADDED:.*]]
; CHECK:       [[ADDED]]:
; CHECK-NEXT:    [[A:%.*]] = getelementptr float, ptr %a, i64 [[FIRST]]
; CHECK:         [[J:%.*]] = phi i64
; CHECK-NEXT:    [[TO:%.*]] = getelementptr float, ptr [[A]], i64 [[J]]
; CHECK-NEXT:    [[OLD:%.*]] = load float, ptr [[TO]]
; CHECK-NEXT:    [[AT:%.*]] = getelementptr inbounds float, ptr [[TERMS]], i64 [[J]]
; CHECK-NEXT:    [[TERM:%.*]] = load float, ptr [[AT]]
; CHECK-NEXT:    [[SUM:%.*]] = fadd reassoc nsz float [[OLD]], [[TERM]]
; CHECK-NEXT:    store float [[SUM]], ptr [[TO]]
; CHECK:         getelementptr float, ptr [[RIGHT]], i64 [[FIRST]]
; CHECK:         fadd reassoc nsz float
; CHECK:       [[LAST]]:
; CHECK-NEXT:    [[NEXT]] = add nuw i64 [[FIRST]], [[THESE]]
; CHECK-NEXT:    [[AGAIN:%.*]] = icmp ult i64 [[NEXT]], %umax
; CHECK-NEXT:    br i1 [[AGAIN]], label %some, label %done
define void @neighbours(ptr noalias %a, ptr noalias %x, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %from = getelementptr float, ptr %x, i64 %i
  %input = load float, ptr %from
  %term = fmul float %input, 2.0
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %term, %r
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; Not what another instruction sees, if only in another iteration,
; CHECK-LABEL: define void @seen(
; CHECK-NOT:     alloca
define void @seen(ptr noalias %a, ptr noalias %x, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %far = add nuw nsw i64 %i, 7
  %from = getelementptr float, ptr %a, i64 %far
  %term = load float, ptr %from
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; what does not follow from thread to thread,
; CHECK-LABEL: define void @strides(
; CHECK-NOT:     alloca
define void @strides(ptr noalias %a, float %term, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %twice = mul nuw nsw i64 %i, 2
  %left = getelementptr float, ptr %a, i64 %twice
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %i2 = add nuw nsw i64 %twice, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; additions that may not change places,
; CHECK-LABEL: define void @in_order(
; CHECK-NOT:     alloca
define void @in_order(ptr noalias %a, float %term, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd float %l, %term
  store float %l.sum, ptr %left
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right
  %r.sum = fadd float %r, %term
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; what only one call of a function tells apart from the array: the next call may see it, unlike the arguments of all threads,
; CHECK-LABEL: define void @told_by_a_call(
; CHECK-NOT:     alloca
define void @told_by_a_call(ptr %memory, i64 %n) {
entry:
  %a = load ptr, ptr %memory, !invariant.load !9
  %slot = getelementptr ptr, ptr %memory, i64 1
  %x = load ptr, ptr %slot, !invariant.load !9
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  call void @llvm.experimental.noalias.scope.decl(metadata !0)
  %from = getelementptr float, ptr %x, i64 %i
  %term = load float, ptr %from, !noalias !0
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left, !alias.scope !0
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left, !alias.scope !0
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right, !alias.scope !0
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right, !alias.scope !0
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; CHECK-LABEL: define void @told_of_all_threads(
; CHECK:         alloca [256 x float]
define void @told_of_all_threads(ptr %memory, i64 %n) {
entry:
  %a = load ptr, ptr %memory, !invariant.load !9
  %slot = getelementptr ptr, ptr %memory, i64 1
  %x = load ptr, ptr %slot, !invariant.load !9
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  call void @llvm.experimental.noalias.scope.decl(metadata !3)
  %from = getelementptr float, ptr %x, i64 %i
  %term = load float, ptr %from, !noalias !3
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left, !alias.scope !3
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left, !alias.scope !3
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right, !alias.scope !3
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right, !alias.scope !3
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; and one place in an array, which needs no loop of its own.
; CHECK-LABEL: define void @one_each(
; CHECK-NOT:     alloca
define void @one_each(ptr noalias %a, ptr noalias %b, float %term, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %right = getelementptr float, ptr %b, i64 %i
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

declare void @llvm.experimental.noalias.scope.decl(metadata)

!0 = !{!1}
!1 = distinct !{!1, !2, !"helper: %a"}
!2 = distinct !{!2, !"helper"}
!3 = !{!4}
!4 = distinct !{!4, !5, !"adgen_gradient_k_thread_alone: argument 0"}
!5 = distinct !{!5, !"adgen_gradient_k_thread_alone"}
!9 = !{}
