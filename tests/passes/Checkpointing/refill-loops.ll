; A shared array that the threads fill in a loop is filled again by that loop, if it fills the same elements each time, whatever they get.
; Not where threads meet between its stores.
;
; RUN: %opt -passes=adgen-rematerialize-shared-loads -S %s | %filecheck %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [256 x float] undef, align 8

; CHECK-LABEL: define void @adgen_body_strided(
; CHECK:         call void @adgen_rule_refill_strided_0(ptr %tile, ptr %x, i32 %o, i32 %n)
; CHECK-NEXT:    call void @adgen_rule_meet_back(ptr %tile)
define void @adgen_body_strided(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %works = icmp ult i32 %t, 256
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %row = mul i32 %o, 256
  br i1 %works, label %fill, label %filled
fill:
  %f = phi i32 [ %t, %outer ], [ %f.next, %store ]
  %place = add i32 %row, %f
  %inside = icmp slt i32 %place, %n
  br i1 %inside, label %read, label %store
read:
  %from = getelementptr float, ptr %x, i32 %place
  %v = load float, ptr %from
  br label %store
store:
  %w = phi float [ %v, %read ], [ 0.0, %fill ]
  %to = getelementptr float, ptr %tile, i32 %f
  store float %w, ptr %to
  %f.next = add i32 %f, %threads
  %more.f = icmp ult i32 %f.next, 256
  br i1 %more.f, label %fill, label %filled
filled:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %filled ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %filled ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 256
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; `if (lane < min(256, n - first))`: an iteration that fills less than the one before leaves what that has filled.
; CHECK-LABEL: define void @adgen_body_bounded(
; CHECK-NOT:     snapshot
; CHECK:         call void @adgen_rule_refill_bounded_0(ptr %tile, ptr %x, i32 %first, i32 %n)
define void @adgen_body_bounded(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  br label %outer
outer:
  %first = phi i32 [ 0, %entry ], [ %first.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %left = sub nsw i32 %n, %first
  %count = call i32 @llvm.smin.i32(i32 %left, i32 256)
  %fills = icmp slt i32 %t, %count
  br i1 %fills, label %fill, label %filled
fill:
  %place = add i32 %first, %t
  %from = getelementptr float, ptr %x, i32 %place
  %v = load float, ptr %from
  store float %v, ptr %mine
  br label %filled
filled:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %filled ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %filled ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %count
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %first.next = add nuw nsw i32 %first, 256
  %again = icmp slt i32 %first.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %y
  ret void
}
declare i32 @llvm.smin.i32(i32, i32)

; How many elements are filled differs: those that are not are left from before.
; CHECK-LABEL: define void @adgen_body_growing(
; CHECK-NOT:     adgen_rule_refill
; CHECK:         call void @adgen_rule_snapshot
define void @adgen_body_growing(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  br label %fill
fill:
  %f = phi i32 [ 0, %outer ], [ %f.next, %fill ]
  %from = getelementptr float, ptr %x, i32 %f
  %v = load float, ptr %from
  %to = getelementptr float, ptr %tile, i32 %f
  store float %v, ptr %to
  %f.next = add i32 %f, 1
  %more.f = icmp ult i32 %f.next, %o
  br i1 %more.f, label %fill, label %filled
filled:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %filled ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %filled ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 256
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; Which elements are filled is decided by what is read.
; CHECK-LABEL: define void @adgen_body_chosen(
; CHECK-NOT:     adgen_rule_refill
; CHECK:         call void @adgen_rule_snapshot
define void @adgen_body_chosen(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  br label %fill
fill:
  %f = phi i32 [ %t, %outer ], [ %f.next, %next ]
  %place = add i32 %f, %o
  %from = getelementptr float, ptr %x, i32 %place
  %v = load float, ptr %from
  %large = fcmp ogt float %v, 1.0
  br i1 %large, label %store, label %next
store:
  %to = getelementptr float, ptr %tile, i32 %f
  store float %v, ptr %to
  br label %next
next:
  %f.next = add i32 %f, 64
  %more.f = icmp ult i32 %f.next, 256
  br i1 %more.f, label %fill, label %filled
filled:
  call void @adgen_rule_barrier(ptr %tile)
  br label %inner
inner:
  %i = phi i32 [ 0, %filled ], [ %i.next, %inner ]
  %sum = phi float [ %sum.o, %filled ], [ %sum.next, %inner ]
  %at = getelementptr float, ptr %tile, i32 %i
  %a = load float, ptr %at, align 4
  %square = fmul float %a, %a
  %sum.next = fadd float %sum, %square
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 256
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; A barrier between two stores orders what threads write to one element.
; CHECK-LABEL: define void @adgen_body_interrupted(
; CHECK-NOT:     adgen_rule_refill
; CHECK:         call void @adgen_rule_snapshot
define void @adgen_body_interrupted(ptr noalias readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %tile, i32 %t
  %partner = xor i32 %t, 32
  %other = getelementptr float, ptr %tile, i32 %partner
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %from = getelementptr float, ptr %x, i32 %o
  %v = load float, ptr %from
  store float %v, ptr %mine
  call void @adgen_rule_barrier(ptr %tile)
  store float 2.0, ptr %other
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
  %more = icmp slt i32 %i.next, 256
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %o.next = add i32 %o, 1
  %again = icmp slt i32 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; The whole loop, with the condition around it; of the counter of the outer loop the iteration is what counts.
; CHECK-LABEL: define void @adgen_rule_refill_strided_0_reverse(
; CHECK:       outer:
; CHECK:         br i1 {{.*}}, label %fill, label %filled
; CHECK:       fill:
; CHECK:         phi i32
; CHECK:         br i1 {{.*}}, label %read, label %store
; CHECK:       read:
; CHECK:         load float
; CHECK:       store:
; CHECK:         store float
; CHECK:         br i1 {{.*}}, label %fill, label %filled
; CHECK:       filled:
; CHECK-NEXT:    ret void

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @adgen_rule_barrier(ptr) convergent
