; What lanes hand to each other is handed on again in the reverse sweep, and not kept.
;
; RUN: %opt -passes=adgen-rematerialize-shuffles,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_scan(
; CHECK-NOT:     malloc
; CHECK:       loop:
; CHECK-COUNT-2: call float @llvm.nvvm.shfl.sync.up.f32
; CHECK:       reverse:
; CHECK:         %j = phi i64
; CHECK:         [[AT:%.*]] = getelementptr float, ptr %a, i64 %j
; CHECK-NEXT:    [[V:%.*]] = load float, ptr [[AT]], align 4, !invariant.load
; CHECK-NEXT:    [[ONE:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float [[V]], i32 1, i32 0)
; CHECK-NEXT:    [[SUM:%.*]] = fadd float [[ONE]], [[V]]
; CHECK-NEXT:    [[TWO:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float [[SUM]], i32 2, i32 0)
; CHECK:         fmul float [[TWO]], [[ONE]]
; CHECK-NOT:     free
; CHECK:         ret void
define void @adgen_gradient_scan(ptr %a, i64 %n, ptr "adgen-shadow" %d_a) "adgen-activity"="duplicated:const" {
entry:
  %sent = alloca float
  %bytes = mul i64 %n, 4
  %first = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %second = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add i64 %i, 1
  %at = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %at, align 4, !invariant.load !2
  %one = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %v, i32 1, i32 0)
  %sum = fadd float %one, %v
  store float %sum, ptr %sent
  %kept = getelementptr float, ptr %first, i64 %i
  store float %one, ptr %kept
  %received = load float, ptr %sent
  %two = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %received, i32 2, i32 0)
  %kept.2 = getelementptr float, ptr %second, i64 %i
  store float %two, ptr %kept.2
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %first.phi = phi ptr [ %first, %loop ]
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %j = phi i64 [ %last, %turn ], [ %j.next, %reverse ]
  %again = getelementptr float, ptr %first.phi, i64 %j
  %x = load float, ptr %again
  %again.2 = getelementptr float, ptr %second, i64 %j
  %y = load float, ptr %again.2
  %d = fmul float %y, %x
  %d.at = getelementptr float, ptr %d_a, i64 %j
  %add = atomicrmw fadd ptr %d.at, float %d monotonic
  %j.next = sub i64 %j, 1
  %done = icmp eq i64 %j, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %first.phi), !enzyme_cache_free !0
  call void @free(ptr %second), !enzyme_cache_free !1
  ret void
}

; A step of a recurrence, of which some warps do not come by: what it carries is kept in the place of what follows from
; that, and the lanes that come to the adjoint of a shuffle take the step again before.
; CHECK-LABEL: define void @adgen_gradient_recurrence(
; CHECK-COUNT-1: call ptr @malloc
; CHECK:       loop:
; CHECK:         %state = phi float
; CHECK:         [[AT:%.*]] = getelementptr float, ptr %{{.*}}, i64 %i
; CHECK-NEXT:    store float %state, ptr [[AT]]
; CHECK-NOT:     store
; CHECK:       reverse:
; CHECK:         %j = phi i64
; CHECK:         [[STATE:%.*]] = load float
; CHECK-NEXT:    [[LEFT:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants.again, float [[STATE]], i32 1, i32 0)
; CHECK-NEXT:    [[FIRST:%.*]] = icmp slt i32 %tid, 7
; CHECK-NEXT:    br i1 [[FIRST]], label %[[WAY:.*]], label %[[MEET:.*]]
; CHECK:       [[WAY]]:
; CHECK-NEXT:    getelementptr float, ptr %a, i64 %j
; CHECK-NEXT:    [[WEIGHT:%.*]] = load float
; CHECK-NEXT:    br label %[[MEET]]
; CHECK:       [[MEET]]:
; CHECK-NEXT:    [[W:%.*]] = phi float [ [[WEIGHT]], %[[WAY]] ], [ 0.000000e+00, %reverse ]
; CHECK-NEXT:    [[DECAYED:%.*]] = fmul float [[LEFT]], [[W]]
; CHECK-NEXT:    [[TWO:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants.again, float [[DECAYED]], i32 2, i32 0)
; CHECK-NEXT:    [[FAR:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants.again, float [[STATE]], i32 4, i32 0)
; CHECK:         [[YX:%.*]] = fmul float [[TWO]], [[LEFT]]
; CHECK-NEXT:    fmul float [[YX]], [[FAR]]
; CHECK:         ret void
define void @adgen_gradient_recurrence(ptr %a, i64 %n, i32 %m, ptr "adgen-shadow" %d_a)
    "adgen-activity"="duplicated:const" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bytes = mul i64 %n, 4
  %left = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %second = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  %takes.part = icmp slt i32 %tid, %m
  %third = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !3
  br i1 %takes.part, label %ahead, label %turn
ahead:
  %participants = call i32 @adgen_lanes_participants(i32 -1)
  %first = icmp slt i32 %tid, 7
  br label %loop
loop:
  %i = phi i64 [ 0, %ahead ], [ %i.next, %loop.end ]
  %state = phi float [ 1.0, %ahead ], [ %state.next, %loop.end ]
  %i.next = add i64 %i, 1
  %one = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants, float %state, i32 1, i32 0)
  %kept = getelementptr float, ptr %left, i64 %i
  store float %one, ptr %kept
  %far = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants, float %state, i32 4, i32 0)
  %kept.3 = getelementptr float, ptr %third, i64 %i
  store float %far, ptr %kept.3
  br i1 %first, label %way, label %loop.end
way:
  %at = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %at, align 4, !invariant.load !2
  br label %loop.end
loop.end:
  %weight = phi float [ %v, %way ], [ 0.0, %loop ]
  %decayed = fmul float %one, %weight
  %two = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants, float %decayed, i32 2, i32 0)
  %kept.2 = getelementptr float, ptr %second, i64 %i
  store float %two, ptr %kept.2
  %state.next = fadd float %two, %state
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %left.phi = phi ptr [ %left, %entry ], [ %left, %loop.end ]
  %second.phi = phi ptr [ %second, %entry ], [ %second, %loop.end ]
  %third.phi = phi ptr [ %third, %entry ], [ %third, %loop.end ]
  %participants.again = phi i32 [ undef, %entry ], [ %participants, %loop.end ]
  br i1 %takes.part, label %behind, label %end
behind:
  %last = sub i64 %n, 1
  %of.last = getelementptr float, ptr %third.phi, i64 %last
  %nobody.asks = load float, ptr %of.last
  br label %reverse
reverse:
  %j = phi i64 [ %last, %behind ], [ %j.next, %reverse ]
  %again = getelementptr float, ptr %left.phi, i64 %j
  %x = load float, ptr %again
  %again.2 = getelementptr float, ptr %second.phi, i64 %j
  %y = load float, ptr %again.2
  %again.3 = getelementptr float, ptr %third.phi, i64 %j
  %z = load float, ptr %again.3
  %yx = fmul float %y, %x
  %d = fmul float %yx, %z
  %from = call float @llvm.nvvm.shfl.sync.down.f32(i32 %participants.again, float %d, i32 1, i32 31)
  %d.at = getelementptr float, ptr %d_a, i64 %j
  %add = atomicrmw fadd ptr %d.at, float %from monotonic
  %j.next = sub i64 %j, 1
  %done = icmp eq i64 %j, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %left.phi), !enzyme_cache_free !0
  call void @free(ptr %second.phi), !enzyme_cache_free !1
  call void @free(ptr %third.phi), !enzyme_cache_free !3
  ret void
}

; A scan of which each iteration asks which lanes take part, as where lanes leave a loop in different ones: what they were is kept, and the
; lanes meet at the adjoint of a shuffle among them.
; CHECK-LABEL: define void @adgen_gradient_asked(
; CHECK-COUNT-1: call ptr @malloc
; CHECK:       loop:
; CHECK:         store i32 %participants, ptr
; CHECK-NOT:     store
; CHECK:       reverse:
; CHECK:         [[MASK:%.*]] = load i32, ptr
; CHECK:         [[ONE:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 [[MASK]], float [[V:%.*]], i32 1, i32 0)
; CHECK-NEXT:    [[SUM:%.*]] = fadd float [[ONE]], [[V]]
; CHECK-NEXT:    [[TWO:%.*]] = call float @llvm.nvvm.shfl.sync.up.f32(i32 [[MASK]], float [[SUM]], i32 2, i32 0)
; CHECK:         fmul float [[TWO]], [[ONE]]
; CHECK:         ret void
define void @adgen_gradient_asked(ptr %a, i64 %n, i32 %m, ptr "adgen-shadow" %d_a) "adgen-activity"="duplicated:const" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bytes = mul i64 %n, 4
  %masks = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %first = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  %second = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !3
  %takes.part = icmp slt i32 %tid, %m
  br i1 %takes.part, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add i64 %i, 1
  %participants = call i32 @adgen_lanes_participants(i32 -1)
  %kept = getelementptr i32, ptr %masks, i64 %i
  store i32 %participants, ptr %kept
  %at = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %at, align 4, !invariant.load !2
  %one = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants, float %v, i32 1, i32 0)
  %kept.1 = getelementptr float, ptr %first, i64 %i
  store float %one, ptr %kept.1
  %sum = fadd float %one, %v
  %two = call float @llvm.nvvm.shfl.sync.up.f32(i32 %participants, float %sum, i32 2, i32 0)
  %kept.2 = getelementptr float, ptr %second, i64 %i
  store float %two, ptr %kept.2
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %j = phi i64 [ %last, %turn ], [ %j.next, %reverse ]
  %again.1 = getelementptr float, ptr %first, i64 %j
  %x = load float, ptr %again.1
  %again.2 = getelementptr float, ptr %second, i64 %j
  %y = load float, ptr %again.2
  %d = fmul float %y, %x
  %again = getelementptr i32, ptr %masks, i64 %j
  %mask = load i32, ptr %again
  %from = call float @llvm.nvvm.shfl.sync.down.f32(i32 %mask, float %d, i32 1, i32 31)
  %d.at = getelementptr float, ptr %d_a, i64 %j
  %add = atomicrmw fadd ptr %d.at, float %from monotonic
  %j.next = sub i64 %j, 1
  %done = icmp eq i64 %j, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %masks), !enzyme_cache_free !0
  call void @free(ptr %first), !enzyme_cache_free !1
  call void @free(ptr %second), !enzyme_cache_free !3
  ret void
}

; What the lanes weigh their keys with goes round in an inner loop: it is kept once for that loop.
; CHECK-LABEL: define void @adgen_gradient_round(
; CHECK:         [[FEWER:%.*]] = udiv exact i64 %bytes, 32
; CHECK-NEXT:    %kept = call ptr @malloc(i64 [[FEWER]])
; CHECK:       loop:
; CHECK:         [[AT:%.*]] = getelementptr float, ptr %kept, i64 %i
; CHECK-NEXT:    store float %weight, ptr [[AT]]
; CHECK:       inner:
; CHECK-NOT:     store
; CHECK:       reverse:
; CHECK:         [[AGAIN:%.*]] = getelementptr float, ptr %kept.phi, i64 %ri
; CHECK-NEXT:    [[SENT:%.*]] = load float, ptr [[AGAIN]]
; CHECK:       reverse.inner:
; CHECK:         [[LANE:%.*]] = trunc i64 %rk to i32
; CHECK-NEXT:    [[GOT:%.*]] = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float [[SENT]], i32 [[LANE]], i32 31)
; CHECK-NEXT:    fmul float [[GOT]], [[GOT]]
define void @adgen_gradient_round(ptr %a, i64 %n, ptr "adgen-shadow" %d_a) "adgen-activity"="duplicated:const" {
entry:
  %bytes = mul i64 %n, 128
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop.next ]
  %i.next = add i64 %i, 1
  %at = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %at
  %weight = fmul float %x, %x
  br label %inner
inner:
  %k = phi i64 [ 0, %loop ], [ %k.next, %inner ]
  %k.next = add i64 %k, 1
  %lane = trunc i64 %k to i32
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %weight, i32 %lane, i32 31)
  %row = mul i64 %i, 32
  %place = add i64 %k, %row
  %to = getelementptr float, ptr %kept, i64 %place
  store float %got, ptr %to
  %inner.done = icmp eq i64 %k.next, 32
  br i1 %inner.done, label %loop.next, label %inner
loop.next:
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %kept.phi = phi ptr [ %kept, %loop.next ]
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %ri = phi i64 [ %last, %turn ], [ %ri.next, %reverse.next ]
  br label %reverse.inner
reverse.inner:
  %rk = phi i64 [ 31, %reverse ], [ %rk.next, %reverse.inner ]
  %rrow = mul i64 %ri, 32
  %rplace = add i64 %rk, %rrow
  %from = getelementptr float, ptr %kept.phi, i64 %rplace
  %y = load float, ptr %from
  %z = load float, ptr %from
  %d = fmul float %y, %z
  %d.at = getelementptr float, ptr %d_a, i64 %rk
  %add = atomicrmw fadd ptr %d.at, float %d monotonic
  %rk.next = sub i64 %rk, 1
  %rdone = icmp eq i64 %rk, 0
  br i1 %rdone, label %reverse.next, label %reverse.inner
reverse.next:
  %ri.next = sub i64 %ri, 1
  %done = icmp eq i64 %ri, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %kept.phi), !enzyme_cache_free !0
  ret void
}

; Not where the lanes that come by do not meet there anyway.
; CHECK-LABEL: define void @adgen_gradient_nowhere(
; CHECK-COUNT-2: call ptr @malloc
; CHECK:       reverse:
; CHECK-NOT:     shfl
; CHECK:       reverse.some:
; CHECK:         ret void
define void @adgen_gradient_nowhere(ptr %a, i64 %n, i32 %m, ptr "adgen-shadow" %d_a)
    "adgen-activity"="duplicated:const:const" {
entry:
  %bytes = mul i64 %n, 4
  %first = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %second = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %takes.part = icmp slt i32 %tid, %m
  br i1 %takes.part, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add i64 %i, 1
  %at = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %at, align 4, !invariant.load !2
  %one = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %v, i32 1, i32 0)
  %kept = getelementptr float, ptr %first, i64 %i
  store float %one, ptr %kept
  %two = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %one, i32 1, i32 0)
  %kept.2 = getelementptr float, ptr %second, i64 %i
  store float %two, ptr %kept.2
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %j = phi i64 [ %last, %turn ], [ %j.next, %reverse.next ]
  %again = getelementptr float, ptr %first, i64 %j
  %x = load float, ptr %again
  %again.2 = getelementptr float, ptr %second, i64 %j
  %y = load float, ptr %again.2
  %counts = fcmp ogt float %x, 0.0
  br i1 %counts, label %reverse.some, label %reverse.next
reverse.some:
  %z = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %y, i32 1, i32 31)
  %d.at = getelementptr float, ptr %d_a, i64 %j
  %add = atomicrmw fadd ptr %d.at, float %z monotonic
  br label %reverse.next
reverse.next:
  %j.next = sub i64 %j, 1
  %done = icmp eq i64 %j, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %first), !enzyme_cache_free !0
  call void @free(ptr %second), !enzyme_cache_free !1
  ret void
}

; Not what the inner loop itself changes.
; CHECK-LABEL: define void @adgen_gradient_changes(
; CHECK:         call ptr @malloc(i64 %bytes)
; CHECK:       reverse.inner:
; CHECK-NOT:     shfl
; CHECK:         ret void
define void @adgen_gradient_changes(ptr %a, i64 %n, ptr "adgen-shadow" %d_a) "adgen-activity"="duplicated:const" {
entry:
  %bytes = mul i64 %n, 128
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop.next ]
  %i.next = add i64 %i, 1
  %at = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %at
  br label %inner
inner:
  %k = phi i64 [ 0, %loop ], [ %k.next, %inner ]
  %weight = phi float [ %x, %loop ], [ %got, %inner ]
  %k.next = add i64 %k, 1
  %lane = trunc i64 %k to i32
  %got = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %weight, i32 %lane, i32 31)
  %row = mul i64 %i, 32
  %place = add i64 %k, %row
  %to = getelementptr float, ptr %kept, i64 %place
  store float %got, ptr %to
  %inner.done = icmp eq i64 %k.next, 32
  br i1 %inner.done, label %loop.next, label %inner
loop.next:
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %ri = phi i64 [ %last, %turn ], [ %ri.next, %reverse.next ]
  br label %reverse.inner
reverse.inner:
  %rk = phi i64 [ 31, %reverse ], [ %rk.next, %reverse.inner ]
  %rrow = mul i64 %ri, 32
  %rplace = add i64 %rk, %rrow
  %from = getelementptr float, ptr %kept, i64 %rplace
  %y = load float, ptr %from
  %d.at = getelementptr float, ptr %d_a, i64 %rk
  %add = atomicrmw fadd ptr %d.at, float %y monotonic
  %rk.next = sub i64 %rk, 1
  %rdone = icmp eq i64 %rk, 0
  br i1 %rdone, label %reverse.next, label %reverse.inner
reverse.next:
  %ri.next = sub i64 %ri, 1
  %done = icmp eq i64 %ri, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

; Not where only some threads may be, nor among lanes that the mask tells.
; CHECK-LABEL: define void @adgen_gradient_some(
; CHECK-COUNT-2: call ptr @malloc
; CHECK:       reverse:
; CHECK-NOT:     shfl
; CHECK:         ret void
define void @adgen_gradient_some(ptr %a, i64 %n, i32 %mask, ptr "adgen-shadow" %d_a) "adgen-activity"="duplicated:const:const" {
entry:
  %bytes = mul i64 %n, 4
  %first = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %second = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !1
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %apart = icmp ult i32 %tid, 32
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %i.next = add i64 %i, 1
  %at = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %at, align 4, !invariant.load !2
  %masked = call float @llvm.nvvm.shfl.sync.up.f32(i32 %mask, float %v, i32 1, i32 0)
  %kept = getelementptr float, ptr %first, i64 %i
  store float %masked, ptr %kept
  br i1 %apart, label %some, label %next
some:
  %one = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %v, i32 1, i32 0)
  %kept.2 = getelementptr float, ptr %second, i64 %i
  store float %one, ptr %kept.2
  br label %next
next:
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %turn
turn:
  %last = sub i64 %n, 1
  br label %reverse
reverse:
  %j = phi i64 [ %last, %turn ], [ %j.next, %reverse.next ]
  %again = getelementptr float, ptr %first, i64 %j
  %x = load float, ptr %again
  br i1 %apart, label %reverse.some, label %reverse.next
reverse.some:
  %again.2 = getelementptr float, ptr %second, i64 %j
  %y = load float, ptr %again.2
  br label %reverse.next
reverse.next:
  %z = phi float [ %x, %reverse ], [ %y, %reverse.some ]
  %d.at = getelementptr float, ptr %d_a, i64 %j
  %add = atomicrmw fadd ptr %d.at, float %z monotonic
  %j.next = sub i64 %j, 1
  %done = icmp eq i64 %j, 0
  br i1 %done, label %end, label %reverse
end:
  call void @free(ptr %first), !enzyme_cache_free !0
  call void @free(ptr %second), !enzyme_cache_free !1
  ret void
}

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare float @llvm.nvvm.shfl.sync.up.f32(i32, float, i32, i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare i32 @adgen_lanes_participants(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!0 = distinct !{}
!1 = distinct !{}
!2 = !{}
!3 = distinct !{}
