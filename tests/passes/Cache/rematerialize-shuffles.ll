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
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!0 = distinct !{}
!1 = distinct !{}
!2 = !{}
