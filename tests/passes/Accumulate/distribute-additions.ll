; What iterations add to several places of one array is kept, and added place after place, some iterations at a time.
;
; RUN: %opt -passes='adgen-distribute-additions,verify' -S %s | %filecheck %s

; The terms are computed first; two places with one term share what is kept. What the loop carries goes on where the last round ended. Few iterations
; are done by the old loop.
; CHECK-LABEL: define void @neighbours(
; CHECK:         [[TERMS:%terms.*]] = alloca [256 x float], align 64
; CHECK:         [[RIGHT:%.*]] = getelementptr float, ptr %a, i64 {{%.*}}
; CHECK-NEXT:    [[FEW:%.*]] = icmp ult i64 %umax, 16
; CHECK-NEXT:    br i1 [[FEW]], label %[[OLD:.*few]], label %some
; CHECK:       some:
; CHECK-NEXT:    [[BEGIN:%.*]] = phi i64 [ 0, %entry ], [ %next, %[[LAST:.*]] ]
; CHECK-NEXT:    [[FIRST:%.*]] = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %[[LAST]] ]
; CHECK-NEXT:    [[LEFT:%.*]] = sub nuw i64 %umax, [[FIRST]]
; CHECK-NEXT:    [[THESE:%.*]] = call i64 @llvm.umin.i64(i64 [[LEFT]], i64 256)
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
; CHECK-NEXT:    [[A:%.*]] = getelementptr float, ptr {{%.*}}, i64 [[FIRST]]
; CHECK:         [[J:%.*]] = phi i64
; CHECK-NEXT:    [[TO:%.*]] = getelementptr float, ptr [[A]], i64 [[J]]
; CHECK-NEXT:    [[AT:%.*]] = getelementptr inbounds float, ptr [[TERMS]], i64 [[J]]
; CHECK-NEXT:    [[TERM:%.*]] = load float, ptr [[AT]]
; CHECK-NEXT:    [[OLD_A:%.*]] = load float, ptr [[TO]]
; CHECK-NEXT:    [[SUM:%.*]] = fadd reassoc nsz float [[OLD_A]], [[TERM]]
; CHECK-NEXT:    store float [[SUM]], ptr [[TO]]
; CHECK:         getelementptr float, ptr [[RIGHT]], i64 [[FIRST]]
; CHECK:         fadd reassoc nsz float
; CHECK:       [[LAST]]:
; CHECK-NEXT:    [[NEXT]] = add nuw i64 [[FIRST]], [[THESE]]
; CHECK-NEXT:    [[AGAIN:%.*]] = icmp ult i64 [[NEXT]], %umax
; CHECK-NEXT:    br i1 [[AGAIN]], label %some, label %done
; CHECK:       [[OLD]]:
; CHECK-NEXT:    phi i64 [ 0, %entry ], [ [[NEXT_OLD:%.*]], %[[OLD]] ]
; CHECK-COUNT-2: fadd reassoc nsz float
; CHECK:         [[NEXT_OLD]] = add
; CHECK:         br i1 {{%.*}}, label %[[OLD]], label %done
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

; or what has an unknown place in each iteration, if it may be in the array.
; CHECK-LABEL: define void @scattered(
; CHECK-NOT:     alloca
define void @scattered(ptr %a, ptr %x, ptr noalias %indices, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %at = getelementptr i64, ptr %indices, i64 %i
  %index = load i64, ptr %at
  %from = getelementptr float, ptr %x, i64 %index
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

; or another thread waits for.
; CHECK-LABEL: define void @published(
; CHECK-NOT:     alloca
define void @published(ptr noalias %a, ptr noalias %ready, float %term, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %i2 = add nuw nsw i64 %i, 2
  %right = getelementptr float, ptr %a, i64 %i2
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right
  store atomic i64 %i, ptr %ready release, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; Places that no vector reaches across stay in one loop, which LLVM vectorises.
; CHECK-LABEL: define void @far_apart(
; CHECK-NOT:     alloca
define void @far_apart(ptr noalias %a, float %term, i64 %n) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
  %left = getelementptr float, ptr %a, i64 %i
  %l = load float, ptr %left
  %l.sum = fadd reassoc nsz float %l, %term
  store float %l.sum, ptr %left
  %i16 = add nuw nsw i64 %i, 16
  %right = getelementptr float, ptr %a, i64 %i16
  %r = load float, ptr %right
  %r.sum = fadd reassoc nsz float %r, %term
  store float %r.sum, ptr %right
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %thread, label %done
done:
  ret void
}

; Few iterations stay as they are.
; CHECK-LABEL: define void @short(
; CHECK-NOT:     alloca
define void @short(ptr noalias %a, float %term) {
entry:
  br label %thread
thread:
  %i = phi i64 [ 0, %entry ], [ %next, %thread ]
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
  %more = icmp ult i64 %next, 15
  br i1 %more, label %thread, label %done
done:
  ret void
}

; A reverse sweep counts down, and so do the loops that add; what is carried to the next iteration and seen behind the loop stays so.
; CHECK-LABEL: define double @down(
; CHECK:         [[START:%.*]] = getelementptr double, ptr %a, i64 %last
; CHECK:       some:
; CHECK-NEXT:    [[CARRIED:%.*]] = phi double [ 1.000000e+00, %entry ], [ %twice, %[[LAST:.*]] ]
; CHECK-NEXT:    [[INDEX:%.*]] = phi i64 [ %last, %entry ], [ %next, %[[LAST]] ]
; CHECK-NEXT:    [[FIRST:%.*]] = phi i64 [ 0, %entry ]
; CHECK:         %i = phi i64 [ [[INDEX]], %some ], [ %next, %loop ]
; CHECK-NEXT:    %before = phi double [ [[CARRIED]], %some ], [ %twice, %loop ]
; CHECK:         [[BACK:%.*]] = sub i64 0, [[FIRST]]
; CHECK-NEXT:    [[FROM:%.*]] = getelementptr double, ptr [[START]], i64 [[BACK]]
; CHECK:         [[J:%.*]] = phi i64
; CHECK-NEXT:    [[MINUS:%.*]] = sub i64 0, [[J]]
; CHECK-NEXT:    [[TO:%.*]] = getelementptr double, ptr [[FROM]], i64 [[MINUS]]
; CHECK:         load double, ptr [[TO]]
; CHECK:       done:
; CHECK-NEXT:    [[END:%.*]] = phi double [ %twice, %[[LAST]] ], [ {{%.*}}, %loop.few ]
; CHECK-NEXT:    ret double [[END]]
define double @down(ptr noalias %a, ptr noalias %x, i64 %last) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %last, %entry ], [ %next, %loop ]
  %before = phi double [ 1.0, %entry ], [ %twice, %loop ]
  %from = getelementptr double, ptr %x, i64 %i
  %input = load double, ptr %from
  %term = fmul double %input, %before
  %twice = fmul double %input, 2.0
  %left = getelementptr double, ptr %a, i64 %i
  %l = load double, ptr %left
  %l.sum = fadd reassoc nsz double %l, %term
  store double %l.sum, ptr %left
  %i1 = add nsw i64 %i, 1
  %right = getelementptr double, ptr %a, i64 %i1
  %r = load double, ptr %right
  %r.sum = fadd reassoc nsz double %r, %input
  store double %r.sum, ptr %right
  %next = add nsw i64 %i, -1
  %end = icmp eq i64 %i, 0
  br i1 %end, label %done, label %loop
done:
  %result = phi double [ %twice, %loop ]
  ret double %result
}

; Where it is not known whether arrays overlap, it is asked: also for what only one call of a function tells apart from the array, since the next
; call may see it, unlike the arguments of all threads.
; CHECK-LABEL: define void @told_by_a_call(
; CHECK:         [[FEW:%.*]] = icmp ult i64 %umax, 16
; CHECK:         [[A:%.*]] = ptrtoint ptr {{%.*}} to i64
; CHECK-NEXT:    [[A_COUNT:%.*]] = sub i64 %umax, 1
; CHECK-NEXT:    [[A_BYTES:%.*]] = mul i64 [[A_COUNT]], 4
; CHECK-NEXT:    [[A_LAST:%.*]] = add i64 [[A]], [[A_BYTES]]
; CHECK-NEXT:    [[A_END:%.*]] = add i64 [[A_LAST]], 4
; CHECK:         [[ARRAY:%.*]] = call i64 @llvm.umin.i64(i64 [[A]], i64 [[A2:%.*]])
; CHECK-NEXT:    [[ARRAY_END:%.*]] = call i64 @llvm.umax.i64(i64 [[A_END]], i64 [[A2_END:%.*]])
; CHECK:         [[X:%.*]] = ptrtoint ptr {{%.*}} to i64
; CHECK:         [[X_END:%.*]] = add i64 {{%.*}}, 4
; CHECK-NEXT:    [[BEFORE:%.*]] = icmp ult i64 [[X]], [[ARRAY_END]]
; CHECK-NEXT:    [[BEHIND:%.*]] = icmp ult i64 [[ARRAY]], [[X_END]]
; CHECK-NEXT:    [[BOTH:%.*]] = and i1 [[BEFORE]], [[BEHIND]]
; CHECK-NEXT:    [[ANY:%.*]] = or i1 false, [[BOTH]]
; CHECK-NEXT:    [[OLD:%.*]] = or i1 [[FEW]], [[ANY]]
; CHECK-NEXT:    br i1 [[OLD]], label %thread.few, label %some
; CHECK:       added:
; CHECK-NOT:     alias.scope
; CHECK:       thread.few:
; CHECK:         alias.scope
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
; CHECK-NOT:     ptrtoint
; CHECK:       added:
; CHECK:         store float {{.*}} !alias.scope
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

; What all iterations add to one element is summed up, also where it is only asked whether something else in the loop may see it. Additions may meet.
; CHECK-LABEL: define void @one_element(
; CHECK-NOT:     alloca
; CHECK:         [[E:%.*]] = ptrtoint ptr %element to i64
; CHECK:         [[X:%.*]] = ptrtoint ptr {{%.*}} to i64
; CHECK-NOT:     ptrtoint
; CHECK:         br i1 {{%.*}}, label %loop.few, label %some
; CHECK:       loop:
; CHECK:         [[SUM:%.*]] = phi float [ -0.000000e+00, %some ], [ %sum, %loop ]
; CHECK:         %sum = fadd reassoc nsz float [[SUM]], %term
; CHECK:         store float %b.sum, ptr %at
; CHECK:       added:
; CHECK-NEXT:    [[OLD:%.*]] = load float, ptr %element
; CHECK-NEXT:    [[NEW:%.*]] = fadd reassoc nsz float [[OLD]], %sum
; CHECK-NEXT:    store float [[NEW]], ptr %element
define void @one_element(ptr %element, ptr %b, ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %term = load float, ptr %from
  %old = load float, ptr %element
  %sum = fadd reassoc nsz float %old, %term
  store float %sum, ptr %element
  %at = getelementptr float, ptr %b, i64 %i
  %b.old = load float, ptr %at
  %b.sum = fadd reassoc nsz float %b.old, %term
  store float %b.sum, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; One place in an array needs no loop of its own.
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
