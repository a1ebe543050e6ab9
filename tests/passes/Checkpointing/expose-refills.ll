; What fills a shared array is one store of what follows from the iteration, so that the array can be filled again for
; the reverse sweep.
;
; RUN: %opt -passes=adgen-expose-refills -S %s | %filecheck %s
; RUN: %opt -passes=adgen-expose-refills,adgen-rematerialize-shared-loads -S %s | %filecheck %s --check-prefix=FILLED

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] undef, align 4
@ids = internal addrspace(3) global [64 x i32] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @adgen_rule_barrier(ptr) convergent
declare float @sqrtf(float) nounwind willreturn memory(none)
declare i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)

; A pointer walks over x; rows behind the last are zeros.
; CHECK-LABEL: define void @adgen_body_copied(
; CHECK:       loop:
; CHECK-NOT:     phi ptr
; CHECK:         %[[FAR:.*]] = mul i64 %{{.*}}, 256
; CHECK-NEXT:    %from{{.*}} = getelementptr i8, ptr %start, i64 %[[FAR]]
; CHECK:       inside:
; CHECK-NOT:     store
; CHECK:       outside:
; CHECK-NOT:     store
; CHECK:       filled:
; CHECK-NEXT:    %[[EITHER:.*]] = phi float [ {{.*}}, %{{inside|outside}} ], [ {{.*}}, %{{inside|outside}} ]
; CHECK:         %[[NUMBER:.*]] = fadd float %[[EITHER]], -0.000000e+00
; CHECK-NEXT:    store float %[[NUMBER]], ptr %{{.*}}, align 4
; CHECK-NEXT:    call void @adgen_rule_barrier
; FILLED-LABEL: define void @adgen_body_copied(
; FILLED:        call void @adgen_rule_refill_copied_0(
; FILLED-NOT:    snapshot
; FILLED:        ret void
define void @adgen_body_copied(ptr readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %t to i64
  %mine = getelementptr float, ptr %tile, i64 %wide
  %start = getelementptr float, ptr %x, i64 %wide
  br label %loop
loop:
  %j = phi i32 [ 0, %entry ], [ %j.next, %latch ]
  %from = phi ptr [ %start, %entry ], [ %from.next, %latch ]
  %sum.o = phi float [ 0.0, %entry ], [ %sum.next, %latch ]
  %in = icmp slt i32 %j, 7
  br i1 %in, label %inside, label %outside
inside:
  %v = load float, ptr %from, align 16
  store float %v, ptr %mine, align 16
  br label %filled
outside:
  store float 0.0, ptr %mine, align 4
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
  %root = call float @sqrtf(float %square)
  %sum.next = fadd float %sum, %root
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, 64
  br i1 %more, label %inner, label %latch
latch:
  call void @adgen_rule_barrier(ptr %tile)
  %from.next = getelementptr i8, ptr %from, i64 256
  %j.next = add nuw nsw i32 %j, 1
  %again = icmp slt i32 %j.next, %n
  br i1 %again, label %loop, label %done
done:
  store float %sum.next, ptr %y
  ret void
}

; The ways store to different elements, or one of them reads what may have been stored.
; CHECK-LABEL: define void @adgen_body_apart(
; CHECK:       one:
; CHECK:         store float
; CHECK:       other:
; CHECK:         store float
; CHECK:       first:
; CHECK:         store float
; CHECK-NEXT:    load float
; CHECK:       second:
; CHECK:         store float
define void @adgen_body_apart(ptr readonly %x, ptr noalias %y, i1 %c, i64 %k, ptr %tile) "adgen-shared"="tile" {
entry:
  %v = load float, ptr %x
  %there = getelementptr float, ptr %tile, i64 %k
  br i1 %c, label %one, label %other
one:
  %left = getelementptr float, ptr %tile, i64 1
  store float %v, ptr %left
  br label %between
other:
  %right = getelementptr float, ptr %tile, i64 2
  store float 0.0, ptr %right
  br label %between
between:
  br i1 %c, label %first, label %second
first:
  store float %v, ptr %tile
  %again = load float, ptr %there
  br label %end
second:
  store float 0.0, ptr %tile
  br label %end
end:
  %w = phi float [ %again, %first ], [ %v, %second ]
  store float %w, ptr %y
  ret void
}

; Lanes exchange an index that stays the same: before the loop, and once for its neighbour. Not if a lane may have left
; the loop before, nor by some lanes alone.
; CHECK-LABEL: define void @adgen_body_exchanged(
; CHECK:       entry:
; CHECK:         %[[ROW:.*]] = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 3, i32 31)
; CHECK:       loop:
; CHECK:         %[[NEXT:.*]] = add i32 %[[ROW]], 5
; CHECK:         %some = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 15, i32 %t, i32 3, i32 31)
; CHECK:         br i1
; CHECK:       more:
; CHECK:         %late = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 4, i32 31)
define void @adgen_body_exchanged(ptr readonly %x, ptr noalias %y, i32 %n, ptr %tile) "adgen-shared"="tile" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %further = add i32 %t, 5
  br label %loop
loop:
  %j = phi i32 [ 0, %entry ], [ %j.next, %more ]
  %row = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 3, i32 31)
  %next = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %further, i32 3, i32 31)
  %some = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 15, i32 %t, i32 3, i32 31)
  %both = add i32 %row, %next
  %all = add i32 %both, %some
  %leaves = icmp eq i32 %all, %j
  br i1 %leaves, label %done, label %more
more:
  %late = call i32 @adgen_hidden_llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 4, i32 31)
  %to = getelementptr i32, ptr %y, i32 %late
  store i32 %all, ptr %to
  %j.next = add nuw nsw i32 %j, 1
  br label %loop
done:
  ret void
}

; The thread knows what it has stored, whatever it has stored to another array since; not behind a barrier.
; CHECK-LABEL: define void @adgen_body_reread(
; CHECK:         store i32 %id, ptr %ids
; CHECK-NEXT:    store float 1.000000e+00, ptr %tile
; CHECK-NEXT:    %from = getelementptr float, ptr %x, i32 %id
; CHECK:         call void @adgen_rule_barrier
; CHECK-NEXT:    %later = load i32, ptr %ids
define void @adgen_body_reread(ptr readonly %x, ptr readonly %list, ptr noalias %y, ptr %tile, ptr %ids) "adgen-shared"="tile:ids" {
entry:
  %id = load i32, ptr %list
  store i32 %id, ptr %ids
  store float 1.0, ptr %tile
  %again = load i32, ptr %ids
  %from = getelementptr float, ptr %x, i32 %again
  %v = load float, ptr %from
  store float %v, ptr %y
  call void @adgen_rule_barrier(ptr %tile)
  %later = load i32, ptr %ids
  store i32 %later, ptr %y
  ret void
}
