; Loads of shared arrays become loads that Enzyme repeats, where the arrays are put back for them: a snapshot at the barrier that ends
; their interval. Not where the thread writes behind the load, where threads meet in other ways, or where a thread may be missing.
;
; RUN: %opt -passes=adgen-rematerialize-shared-loads -S %s | %filecheck %s
; RUN: %opt -passes="function(lcssa),adgen-rematerialize-shared-loads" -S %s | %filecheck %s --check-prefix=LCSSA
; RUN: %opt -passes=adgen-rematerialize-shared-loads,adgen-strip-guards -S %s | %filecheck %s --check-prefix=RESTORED
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] undef, align 4
@pool = external addrspace(3) global [0 x float], align 4
@wide = internal addrspace(3) global [2048 x float] undef, align 4
@taps = internal addrspace(4) constant [2 x float] [float 1.0, float 2.0], !enzyme_inactive !0
!0 = !{}

; What is kept in whole words is aligned to them.
; CHECK: @tile = internal addrspace(3) global [64 x float] undef, align 8

; A loop reads the tile between two barriers, which all threads meet: n is the same for all. Nobody has written since the
; first one, so the tile is kept before the second one.
; CHECK-LABEL: define void @adgen_body_tiles(
; CHECK:       store float %v, ptr %mine
; CHECK:       call void @adgen_rule_barrier(ptr %tile)
; CHECK-NOT:   _snapshot
; CHECK:       %0 = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %at, i32 4)
; CHECK:       call void @adgen_rule_meet_back(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
; CHECK-NEXT:  call void @adgen_rule_barrier(ptr %tile)
; RESTORED-LABEL: define void @adgen_body_tiles(
; RESTORED:    %0 = load float, ptr %at, align 4
define void @adgen_body_tiles(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %outer ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %root = call float @sqrtf(float %square)
  %sum.next = fadd float %sum, %root
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %x
  ret void
}

; Behind the last barrier nothing has to be put back.
; CHECK-LABEL: define void @adgen_body_tail(
; CHECK-NOT:   _snapshot
; CHECK:       call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %pool
; CHECK:       call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %second
; CHECK-NOT:   _snapshot
define void @adgen_body_tail(ptr %x, ptr %pool) "adgen-shared"="pool" {
  call void @adgen_rule_barrier(ptr %pool)
  %a = load float, ptr %pool
  %second = getelementptr float, ptr %pool, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  ret void
}

; A thread that has left does not keep its share.
; CHECK-LABEL: define void @adgen_body_left_early(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
define void @adgen_body_left_early(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %left
work:
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  call void @adgen_rule_barrier(ptr %tile)
  store float %p, ptr %tile
  br label %left
left:
  ret void
}

; The thread itself overwrites what it read.
; CHECK-LABEL: define void @adgen_body_overwritten(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
define void @adgen_body_overwritten(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %b = load float, ptr %mine
  %p = fmul float %a, %b
  store float %p, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

; The lanes of a warp meet between the load and the barrier, and another one may write then.
; CHECK-LABEL: define void @adgen_body_warps(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
define void @adgen_body_warps(ptr %x, ptr %tile) "adgen-shared"="tile" {
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  call void @adgen_rule_warp_barrier(ptr %tile, i32 -1) convergent
  store float %p, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

; Sums need no value, so nothing is gained.
; CHECK-LABEL: define void @adgen_body_sums(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
define void @adgen_body_sums(ptr %x, ptr %tile) "adgen-shared"="tile" {
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fadd float %a, %b
  store float %p, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

; Nothing is written to a constant behind its reads: it is read again without a snapshot, and a product with it is a sum's part.
; CHECK-LABEL: define void @adgen_body_weighted(
; CHECK-NOT:   _snapshot
; CHECK:       %[[WEIGHT:.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %table, i32 4)
; CHECK-NEXT:  %[[OTHER:.*]] = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %second, i32 4)
; CHECK-NEXT:  %value = load float, ptr %tile
; CHECK-NEXT:  %next = load float
; CHECK-NOT:   _snapshot
define void @adgen_body_weighted(ptr %x, ptr %table, ptr %tile) "adgen-shared"="table:tile" "adgen-shared-constants"="0" {
  call void @adgen_rule_barrier(ptr %tile)
  %second = getelementptr float, ptr %table, i32 1
  %after = getelementptr float, ptr %tile, i32 1
  %weight = load float, ptr %table
  %other = load float, ptr %second
  %value = load float, ptr %tile
  %next = load float, ptr %after
  %p = fmul float %weight, %value
  %q = fmul float %next, %other
  %sum = fadd float %p, %q
  store float %sum, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  store float 0.0, ptr %tile
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}

; Two halves of an array that are read and written in turn: another barrier parts what all threads read from what they
; write, and the array is kept there.
; CHECK-LABEL: define void @adgen_body_halves(
; CHECK:       loop:
; CHECK:       call void @adgen_rule_barrier(ptr %tile)
; CHECK-COUNT-8: call float @llvm.nvvm.ldu.global.f.f32.p0(
; CHECK:       call void @adgen_rule_meet_back(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
; CHECK-NEXT:  call void @adgen_rule_barrier(ptr %tile)
; CHECK:       store float %next, ptr %mine
define void @adgen_body_halves(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %half = and i32 %i, 1
  %other = and i32 %i.next, 1
  %from = getelementptr [32 x float], ptr %tile, i32 %half
  %to = getelementptr [32 x float], ptr %tile, i32 %other
  %mine = getelementptr float, ptr %to, i32 %t
  %p0 = getelementptr float, ptr %from, i32 0
  %v0 = load float, ptr %p0
  %s0 = fmul float %v0, %v0
  %p1 = getelementptr float, ptr %from, i32 1
  %v1 = load float, ptr %p1
  %s1 = fmul float %v1, %v1
  %p2 = getelementptr float, ptr %from, i32 2
  %v2 = load float, ptr %p2
  %s2 = fmul float %v2, %v2
  %p3 = getelementptr float, ptr %from, i32 3
  %v3 = load float, ptr %p3
  %s3 = fmul float %v3, %v3
  %p4 = getelementptr float, ptr %from, i32 4
  %v4 = load float, ptr %p4
  %s4 = fmul float %v4, %v4
  %p5 = getelementptr float, ptr %from, i32 5
  %v5 = load float, ptr %p5
  %s5 = fmul float %v5, %v5
  %p6 = getelementptr float, ptr %from, i32 6
  %v6 = load float, ptr %p6
  %s6 = fmul float %v6, %v6
  %p7 = getelementptr float, ptr %from, i32 7
  %v7 = load float, ptr %p7
  %s7 = fmul float %v7, %v7
  %sum1 = fadd float %s0, %s1
  %sum2 = fadd float %sum1, %s2
  %sum3 = fadd float %sum2, %s3
  %sum4 = fadd float %sum3, %s4
  %sum5 = fadd float %sum4, %s5
  %sum6 = fadd float %sum5, %s6
  %sum7 = fadd float %sum6, %s7
  %next = call float @sqrtf(float %sum7)
  store float %next, ptr %mine
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  store float %next, ptr %x
  ret void
}

; CHECK-LABEL: declare {{.*}} @llvm.nvvm.read
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @sqrtf(float) "enzyme_math"="sqrt"
declare void @adgen_rule_barrier(ptr) convergent
declare void @adgen_rule_warp_barrier(ptr, i32) convergent

; Behind the barrier something needs what was computed from the load, and the array has changed by then: Enzyme would read again there,
; before it has the old values back. A sum needs nothing.
; CHECK-LABEL: define void @adgen_body_needed_behind(
; CHECK:         %a = load float, ptr %at
; CHECK:         %b = load float, ptr %next
; CHECK-NOT:     ldu.global
; CHECK-LABEL: define void @adgen_body_summed_behind(
; CHECK-COUNT-2: call float @llvm.nvvm.ldu.global
define void @adgen_body_needed_behind(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr float, ptr %tile, i32 %t
  %next = getelementptr float, ptr %at, i32 1
  %a = load float, ptr %at
  %b = load float, ptr %next
  %product = fmul float %a, %b
  call void @adgen_rule_barrier(ptr %tile)
  store float %product, ptr %at
  call void @adgen_rule_barrier(ptr %tile)
  %square = fmul float %product, %product
  store float %square, ptr %x
  ret void
}

define void @adgen_body_summed_behind(ptr %x, ptr %tile) "adgen-shared"="tile" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr float, ptr %tile, i32 %t
  %next = getelementptr float, ptr %at, i32 1
  %a = load float, ptr %at
  %b = load float, ptr %next
  %product = fmul float %a, %b
  call void @adgen_rule_barrier(ptr %tile)
  store float %product, ptr %at
  call void @adgen_rule_barrier(ptr %tile)
  %sum = fadd float %product, %product
  store float %sum, ptr %x
  ret void
}

; What a loop hands on to its next iteration may be computed again there, behind the next store: it is no recurrence.
; CHECK-LABEL: define void @adgen_body_handed_on(
; CHECK-NOT:   ldu
; CHECK:       ret void
; A recurrence has to be kept.
; CHECK-LABEL: define void @adgen_body_recurs(
; CHECK:       ldu
define void @adgen_body_handed_on(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %next.to = getelementptr float, ptr %mine, i32 1
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %before = phi float [ 0.0, %entry ], [ %product, %loop ]
  %root = call float @sqrtf(float %before)
  store float %root, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %mine, align 4
  %b = load float, ptr %next.to, align 4
  %product = fmul float %a, %b
  call void @adgen_rule_barrier(ptr %tile)
  store float 1.0, ptr %x
  %i.next = add i32 %i, 1
  %again = icmp slt i32 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
define void @adgen_body_recurs(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %next.to = getelementptr float, ptr %mine, i32 1
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %before = phi float [ 0.0, %entry ], [ %sum, %loop ]
  %root = call float @sqrtf(float %before)
  store float 1.0, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %mine, align 4
  %b = load float, ptr %next.to, align 4
  %product = fmul float %a, %b
  %sum = fadd float %root, %product
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %again = icmp slt i32 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  store float %sum, ptr %x
  ret void
}

; All threads fill the same elements in every iteration, from memory that nobody writes to: the array is filled again, and nothing is kept.
; CHECK-LABEL: define void @adgen_body_filled(
; CHECK:       latch:
; CHECK-NEXT:  call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_refill_filled_0(ptr %tile, ptr %from, i32 %o, i32 %n)
; CHECK-NEXT:  call void @adgen_rule_meet_back(ptr %tile)
; CHECK-NOT:   _snapshot
define void @adgen_body_filled(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %place = add i32 %o, %t
  %inside = icmp slt i32 %place, %n
  br i1 %inside, label %read, label %write
read:
  %source = getelementptr float, ptr %from, i32 %place
  %v = load float, ptr %source
  br label %write
write:
  %filling = phi float [ %v, %read ], [ 0.0, %outer ]
  store float %filling, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %write ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %write ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 64
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %x
  ret void
}

; The same by way of a struct by value: how often the loop runs is the same in all threads, and what its pointer leads to is not what is written.
; CHECK-LABEL: define void @adgen_body_view(
; CHECK:       call void @adgen_rule_barrier(ptr %tile)
; CHECK:       call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_refill_view_0(ptr %tile, ptr %view, i32 %o)
; CHECK-NOT:   _snapshot
define void @adgen_body_view(ptr "adgen-struct"="24" %view, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %to.at = getelementptr i8, ptr %view, i64 16
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %place = add i32 %o, %t
  %from = load ptr, ptr %view
  %source = getelementptr float, ptr %from, i32 %place
  %v = load float, ptr %source
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %outer ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 64
  %extent.at = getelementptr i8, ptr %view, i64 8
  %n = load i32, ptr %extent.at
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  %to = load ptr, ptr %to.at
  store float %sum.next, ptr %to
  ret void
}

; The same where only some threads write, the same ones in every iteration. Not where the iteration decides who does, where the place
; depends on it, where what is read is written, or where there are two places.
; CHECK-LABEL: define void @adgen_body_some(
; CHECK:       latch:
; CHECK-NEXT:  call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_refill_some_0(ptr %tile, ptr %from, i32 %o, i32 %n)
; CHECK-NOT:   _snapshot
define void @adgen_body_some(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  %few = icmp slt i32 %t, %n
  br i1 %few, label %do, label %ready
do:
  store float %v, ptr %mine
  br label %ready
ready:
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
; CHECK-LABEL: define void @adgen_body_in_turn(
; CHECK-NOT:   _refill
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_in_turn(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  %few = icmp eq i32 %t, %o
  br i1 %few, label %do, label %ready
do:
  store float %v, ptr %mine
  br label %ready
ready:
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
; CHECK-LABEL: define void @adgen_body_moving(
; CHECK-NOT:   _refill
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_moving(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  %there = getelementptr float, ptr %mine, i32 %o
  store float %v, ptr %there
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
; CHECK-LABEL: define void @adgen_body_written(
; CHECK-NOT:   _refill
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_written(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %source = getelementptr float, ptr %x, i32 %o
  %v = load float, ptr %source
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
; CHECK-LABEL: define void @adgen_body_twice(
; CHECK-NOT:   _refill
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_twice(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  store float 0.0, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}

; Which threads fill their elements depends on a sum that may wrap around: one that has nothing to fill looks for the iteration that did.
; What an index is read for is read again with it.
; CHECK-LABEL: define void @adgen_body_up_to(
; CHECK:         call i32 @llvm.nvvm.ldu.global.i.i32.p0(ptr %tile, i32 4)
; CHECK:       latch:
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    call void @adgen_rule_refill_up_to_0(ptr %tile, ptr %from, i32 %o, i32 %n)
; CHECK-NOT:     _snapshot
define void @adgen_body_up_to(ptr noalias readonly %x, ptr noalias readonly %from, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %first = shl i32 %o, 5
  %at = add i32 %first, %t
  %has = icmp ult i32 %at, %n
  br i1 %has, label %do, label %ready
do:
  %source = getelementptr i32, ptr %from, i32 %at
  %v = load i32, ptr %source
  store i32 %v, ptr %mine
  br label %ready
ready:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %ready ], [ %i.next, %inner ]
  %j = load i32, ptr %tile
  %value.at = getelementptr float, ptr %x, i32 %j
  %a = load float, ptr %value.at
  %p = fmul float %a, %a
  store float %p, ptr %y
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}

; Where a tile ends, as the next one begins or as all do, is a number that each thread has found before.
; CHECK-LABEL: define void @adgen_body_up_to_either(
; CHECK:       latch:
; CHECK-NEXT:    call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:    call void @adgen_rule_refill_up_to_either_0(ptr %tile, ptr %from, i32 %o, i32 %end)
; CHECK-NOT:     _snapshot
define void @adgen_body_up_to_either(ptr noalias readonly %x, ptr noalias readonly %from, ptr noalias %y, i1 %is_last, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr %tile, i32 %t
  br i1 %is_last, label %begin, label %another
another:
  %next = load i32, ptr %x
  br label %begin
begin:
  %end = phi i32 [ %n, %entry ], [ %next, %another ]
  br label %outer
outer:
  %o = phi i32 [ 0, %begin ], [ %o.next, %latch ]
  %first = shl nsw i32 %o, 5
  %at = add nsw i32 %first, %t
  %has = icmp slt i32 %at, %end
  br i1 %has, label %do, label %ready
do:
  %source = getelementptr i32, ptr %from, i32 %at
  %v = load i32, ptr %source
  store i32 %v, ptr %mine
  br label %ready
ready:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %ready ], [ %i.next, %inner ]
  %j = load i32, ptr %tile
  %value.at = getelementptr float, ptr %x, i32 %j
  %a = load float, ptr %value.at
  %p = fmul float %a, %a
  store float %p, ptr %y
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}

; Whether a thread is done follows from what it reads, and decides about the next tile: it is kept for each tile.
; CHECK-LABEL: define void @adgen_body_flagged(
; CHECK:         call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %tile, i32 4)
; CHECK:         [[LEFT:%.*]] = phi i1 [ %flag, %next ]
; CHECK-NEXT:    [[DONE:%.*]] = call i1 @adgen_hold_i1(i1 [[LEFT]])
; CHECK:         phi i1 [ %done, %ready ], [ [[DONE]], %left ]
; LCSSA-LABEL: define void @adgen_body_flagged(
; LCSSA:         [[LEFT:%.*]] = phi i1 [ %flag, %next ]
; LCSSA-NEXT:    [[DONE:%.*]] = call i1 @adgen_hold_i1(i1 [[LEFT]])
; LCSSA:         phi i1 [ %done, %ready ], [ [[DONE]], %left ]
define void @adgen_body_flagged(ptr noalias readonly %from, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %more ]
  %done = phi i1 [ false, %entry ], [ %done.next, %more ]
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %ready
ready:
  br i1 %done, label %latch, label %inner
inner:
  %i = phi i32 [ 0, %ready ], [ %i.next, %next ]
  %a = load float, ptr %tile
  %p = fmul float %a, %a
  store float %p, ptr %y
  %some = icmp slt i32 %i, 3
  br i1 %some, label %asks, label %next
asks:
  %small = fcmp olt float %p, 1.0
  br label %next
next:
  %flag = phi i1 [ false, %inner ], [ %small, %asks ]
  %i.next = add i32 %i, 1
  %last = icmp sge i32 %i.next, %n
  %ends = select i1 %last, i1 true, i1 %flag
  br i1 %ends, label %left, label %inner
left:
  br label %latch
latch:
  %done.next = phi i1 [ %done, %ready ], [ %flag, %left ]
  call void @adgen_rule_barrier(ptr %tile)
  %all = call i1 @all_done(i1 %done.next)
  br i1 %all, label %end, label %more
more:
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %end
end:
  ret void
}
declare i1 @all_done(i1) memory(none)

; Nor where threads meet between two stores, of which the second may overwrite what another thread has stored first.
; CHECK-LABEL: define void @adgen_body_padded(
; CHECK-NOT:   _refill
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_padded(ptr %x, ptr %from, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %beside = getelementptr float, ptr %mine, i32 1
  %few = icmp slt i32 %t, 62
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  store float 0.0, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br i1 %few, label %do, label %ready
do:
  %source = getelementptr float, ptr %from, i32 %o
  %v = load float, ptr %source
  store float %v, ptr %beside
  br label %ready
ready:
  call void @adgen_rule_barrier(ptr %tile)
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %x
  br label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}

; Of a convolution one sum is needed, less than a thread's share of a large array: they are kept, what follows from one of them is not.
; CHECK-LABEL: define void @adgen_body_convolved(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
; CHECK:       store float %sum, ptr %held
; CHECK-NEXT:  call void @adgen_pin_variable(ptr %held
; CHECK:       %[[SUM:.*]] = load float, ptr %held
; CHECK:       fmul float %[[SUM]], 2.0
; CHECK-NOT:   adgen_pin_variable
; CHECK:       ret void
; Of a small one the share is less than a number, and as many sums as loads gain nothing.
; CHECK-LABEL: define void @adgen_body_small(
; CHECK-COUNT-3: ldu.global
; CHECK:       call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
define void @adgen_body_convolved(ptr %x, i32 %n, ptr %tile) "adgen-shared"="wide" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %second = getelementptr float, ptr %mine, i32 1
  %third = getelementptr float, ptr %mine, i32 2
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %own = load float, ptr %x
  store float %own, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %tap = load float, ptr addrspace(4) @taps
  %a = load float, ptr %mine
  %b = load float, ptr %second
  %c = load float, ptr %third
  %first = fmul float %tap, %a
  %two = fadd float %first, %b
  %sum = fadd float %two, %c
  %twice = fmul float %sum, 2.0
  %square = fmul float %sum, %twice
  %cube = fmul float %square, %twice
  store float %cube, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %again = icmp slt i32 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}

define void @adgen_body_small(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %second = getelementptr float, ptr %mine, i32 1
  %third = getelementptr float, ptr %mine, i32 2
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %own = load float, ptr %x
  store float %own, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %tap = load float, ptr addrspace(4) @taps
  %a = load float, ptr %mine
  %b = load float, ptr %second
  %c = load float, ptr %third
  %first = fmul float %tap, %a
  %two = fadd float %first, %b
  %sum = fadd float %two, %c
  %twice = fmul float %sum, 2.0
  %square = fmul float %sum, %twice
  %cube = fmul float %square, %twice
  store float %cube, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %again = icmp slt i32 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
; Lanes that hand values to each other do not order memory, and here no thread writes to the tile until the barrier: it is read again.
; What the loop leaves behind, and something needs there, is kept, so that Enzyme does not find it out from what was read.
; CHECK-LABEL: define void @adgen_body_shuffled(
; CHECK:         %held = alloca float
; CHECK:       loop:
; CHECK:         call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %at, i32 4)
; CHECK:         call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
; CHECK:       done:
; CHECK-NEXT:    [[LEFT:%.*]] = phi float [ {{%sum.next.*}}, %latch ]
; CHECK-NEXT:    store float [[LEFT]], ptr %held
; CHECK-NEXT:    call void @adgen_pin_variable(ptr %held)
; CHECK-NEXT:    [[HELD:%.*]] = load float, ptr %held
; CHECK-NEXT:    %root = call float @sqrtf(float [[HELD]])
; LCSSA-LABEL: define void @adgen_body_shuffled(
; LCSSA:       done:
; LCSSA-NEXT:    [[LEFT:%.*]] = phi float [ {{%sum.next.*}}, %latch ]
; LCSSA-NEXT:    store float [[LEFT]], ptr %held
; LCSSA-NEXT:    call void @adgen_pin_variable(ptr %held)
; LCSSA-NEXT:    [[HELD:%.*]] = load float, ptr %held
; LCSSA-NEXT:    %root = call float @sqrtf(float [[HELD]])
define void @adgen_body_shuffled(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %sent = alloca float
  %received = alloca float
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %loop
loop:
  %i = phi i32 [ 0, %outer ], [ %i.next, %loop ]
  %sum = phi float [ %sum.o, %outer ], [ %sum.next, %loop ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  store float %square, ptr %sent
  call void @adgen_rule_shfl_bfly_f32(ptr %received, ptr %sent, i32 -1, i32 16, i32 31) convergent
  %other = load float, ptr %received
  %both = fadd float %square, %other
  %sum.next = fadd float %sum, %both
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %loop, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  %root = call float @sqrtf(float %sum.next)
  store float %root, ptr %x
  ret void
}

; Another lane may have written to the tile since the barrier before.
; CHECK-LABEL: define void @adgen_body_written_by_lanes(
; CHECK-NOT:   ldu
; CHECK-NOT:   _snapshot
; CHECK:       ret void
define void @adgen_body_written_by_lanes(ptr %x, i1 %writes, ptr %tile) "adgen-shared"="tile" {
entry:
  %sent = alloca float
  %received = alloca float
  call void @adgen_rule_barrier(ptr %tile)
  br i1 %writes, label %write, label %read
write:
  call void @adgen_rule_shfl_bfly_f32(ptr %received, ptr %sent, i32 -1, i32 16, i32 31) convergent
  store float 2.0, ptr %tile
  br label %end
read:
  %a = load float, ptr %tile
  %second = getelementptr float, ptr %tile, i32 1
  %b = load float, ptr %second
  %p = fmul float %a, %b
  store float %p, ptr %sent
  call void @adgen_rule_shfl_bfly_f32(ptr %received, ptr %sent, i32 -1, i32 16, i32 31) convergent
  br label %end
end:
  call void @adgen_rule_barrier(ptr %tile)
  ret void
}
declare void @adgen_rule_shfl_bfly_f32(ptr, ptr, i32, i32, i32) convergent

; The load itself is what its loop leaves behind: what stands for it is kept there.
; CHECK-LABEL: define void @adgen_body_leaves_a_load(
; CHECK:       %0 = call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %at, i32 4)
; CHECK:       [[OUT:%.*]] = phi float [ %0, %inner ]
; CHECK:       [[LAST:%.*]] = phi float [ [[OUT]], %joined ]
; CHECK-NEXT:  store float [[LAST]], ptr %held
define void @adgen_body_leaves_a_load(ptr %x, ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %joined ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi float [ 0.0, %outer ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %joined
joined:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %exit
exit:
  %b = fmul float %a, %a
  store float %b, ptr %y
  ret void
}

; Threads have written since the barrier before: what they have written is kept behind this one, and all have to have read
; their shares before the next is written.
; CHECK-LABEL: define void @adgen_body_written_before(
; CHECK:       ldu
; CHECK:       call void @adgen_rule_barrier(ptr %tile)
; CHECK-NEXT:  call void @adgen_rule_snapshot_words(ptr %tile, i64 256)
; CHECK-NEXT:  call void @adgen_rule_behind_snapshot(ptr %tile)
define void @adgen_body_written_before(ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %to = getelementptr float, ptr %y, i32 %i
  %v = load float, ptr %to
  store float %v, ptr %mine
  %a = load float, ptr %mine, align 4
  %square = fmul float %a, %a
  %b = load float, ptr %mine, align 4
  %p = fmul float %square, %b
  store float %p, ptr %to
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; What a loop leaves behind is kept there, too, where another loop needs it.
; CHECK-LABEL: define void @adgen_body_left_for_another(
; CHECK:         call float @llvm.nvvm.ldu.global.f.f32.p0(ptr %at, i32 4)
; CHECK:       between:
; CHECK-NEXT:    [[LEFT:%.*]] = phi float [ {{%sum.next.*}}, %latch ]
; CHECK-NEXT:    store float [[LEFT]], ptr %held
; CHECK-NEXT:    call void @adgen_pin_variable(ptr %held)
; CHECK-NEXT:    [[HELD:%.*]] = load float, ptr %held
; CHECK:       other:
; CHECK:         fmul float [[HELD]], %factor
define void @adgen_body_left_for_another(ptr %x, ptr %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %outer ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %between
between:
  br label %other
other:
  %j = phi i32 [ 0, %between ], [ %j.next, %other ]
  %to = getelementptr float, ptr %y, i32 %j
  %factor = load float, ptr %to
  %p = fmul float %sum.next, %factor
  store float %p, ptr %to
  %j.next = add i32 %j, 1
  %go = icmp slt i32 %j.next, %n
  br i1 %go, label %other, label %done
done:
  ret void
}

; Each iteration that needs what a condition has read has read it, or taken a constant, itself: what the iteration before has
; read is needed by none. Not where an iteration may take on what was read before.
; CHECK-LABEL: define void @adgen_body_chosen(
; CHECK-COUNT-2: call float @llvm.nvvm.ldu.global
; CHECK-LABEL: define void @adgen_body_chosen_before(
; CHECK-NOT:     ldu
; CHECK:         ret void
define void @adgen_body_chosen(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %join ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %reads = icmp slt i32 %t, %i
  br i1 %reads, label %read, label %join
read:
  %at = getelementptr float, ptr %tile, i32 %i
  %next = getelementptr float, ptr %at, i32 1
  %a = load float, ptr %at
  %b = load float, ptr %next
  %quotient = fdiv float %a, %b
  br label %join
join:
  %chosen = phi float [ %quotient, %read ], [ 0.0, %loop ]
  %p = fmul float %chosen, %v
  store float %p, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
define void @adgen_body_chosen_before(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %join ]
  %before = phi float [ 1.0, %entry ], [ %quotient, %join ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %sum = fadd float %before, %v
  %p = fmul float %sum, %v
  store float %p, ptr %x
  %at = getelementptr float, ptr %tile, i32 %i
  %next = getelementptr float, ptr %at, i32 1
  %a = load float, ptr %at
  %b = load float, ptr %next
  %quotient = fdiv float %a, %b
  br label %join
join:
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A loop that halves is counted by the number of leading zeros, which is the same for all threads of the block.
; CHECK-LABEL: define void @adgen_body_halved(
; CHECK-COUNT-2: call float @llvm.nvvm.ldu.global
; CHECK:         call void @adgen_rule_snapshot_words(
define void @adgen_body_halved(ptr %x, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %zeros = call i32 @llvm.ctlz.i32(i32 %n, i1 false)
  %bits = sub i32 32, %zeros
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %v = load float, ptr %x
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  %at = getelementptr float, ptr %mine, i32 %i
  %a = load float, ptr %mine
  %b = load float, ptr %at
  %p = fmul float %a, %b
  store float %p, ptr %x
  call void @adgen_rule_barrier(ptr %tile)
  %i.next = add i32 %i, 1
  %more = icmp ne i32 %i.next, %bits
  br i1 %more, label %loop, label %done
done:
  ret void
}

; What fills it has no primal before Enzyme, nothing to do forward, and fills it in the reverse sweep.
; CHECK:       declare !enzyme_augment {{.*}} void @adgen_rule_refill_filled_0(ptr, ptr readonly captures(none), i32, i32)
; CHECK:       define void @adgen_rule_refill_filled_0_augmented(
; CHECK-NEXT:  entry:
; CHECK-NEXT:    ret void
; CHECK:       define void @adgen_rule_refill_filled_0_reverse(ptr [[TILE:%.*]], ptr {{.*}}, ptr [[FROM:%.*]], ptr {{.*}}, i32 [[O:%.*]], i32 {{.*}}, i32 [[N:%.*]], i32 {{.*}})
; CHECK:         [[T:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK:         [[MINE:%.*]] = getelementptr float, ptr [[TILE]], i32 [[T]]
; CHECK:         [[PLACE:%.*]] = add i32 [[O]], [[T]]
; CHECK:         icmp slt i32 [[PLACE]], [[N]]
; CHECK:         [[SOURCE:%.*]] = getelementptr float, ptr [[FROM]], i32 [[PLACE]]
; CHECK:         load float, ptr [[SOURCE]]
; CHECK:         store float {{.*}}, ptr [[MINE]]
; CHECK-NEXT:    ret void

