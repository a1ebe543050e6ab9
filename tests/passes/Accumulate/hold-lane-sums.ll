; What lanes of a warp add to an element by a quotient is held by each lane while none of them comes to another one.
;
; RUN: %opt -passes=adgen-hold-lane-sums,sroa,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_rows(
; CHECK:       loop:
; CHECK-DAG:     [[SUM:%.*]] = phi float [ 0.000000e+00, %entry ], [ [[NEXT:%.*]], %[[ON:.*]] ]
; CHECK-DAG:     [[OTHER:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %[[ON]] ]
; CHECK-DAG:     [[HELD:%.*]] = phi ptr [ null, %entry ], [ %place, %[[ON]] ]
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[HOLDS:%.*]] = icmp ne ptr [[HELD]], null
; CHECK-NEXT:    [[IS:%.*]] = icmp ne ptr [[HELD]], %place
; CHECK-NEXT:    [[LEAVES:%.*]] = and i1 [[HOLDS]], [[IS]]
; CHECK-NEXT:    [[MOVED:%.*]] = call i1 @llvm.nvvm.vote.any.sync(i32 [[ACTIVE]], i1 [[LEAVES]])
; CHECK-NEXT:    br i1 [[MOVED]], label %[[MOVES:.*]], label %[[ON]]
; CHECK:       [[MOVES]]:
; CHECK:         [[WHERE:%.*]] = select i1 {{%.*}}, ptr %place, ptr [[HELD]]
; CHECK:         call i32 @adgen_alike(i32 [[ACTIVE]], i64 {{%.*}}, i1 false)
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK:       [[ON]]:
; CHECK-DAG:     fadd float {{.*}}, %v
; CHECK-DAG:     fadd float {{.*}}, %w
; CHECK-NOT:     atomicrmw
; CHECK:       done:
; CHECK:         icmp ne ptr {{.*}}, null
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_rows(ptr %x, i32 %n, i32 %length, float %v, float %w, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %loop ]
  %row = sdiv i32 %i, %length
  %wide = sext i32 %row to i64
  %place = getelementptr [2 x float], ptr %d_gain, i64 %wide
  %second = getelementptr i8, ptr %place, i64 4
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %1 = atomicrmw fadd ptr %second, float %w monotonic
  %next = add i32 %i, %width
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Elements of a lane's own, such as stay the same, and such as may be read meanwhile.
; CHECK-LABEL: define void @adgen_gradient_others(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %own, float %v monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %same, float %v monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %read, float %v monotonic
; CHECK:         ret void
define void @adgen_gradient_others(ptr %x, i32 %n, i32 %length, float %v, ptr "adgen-shadow" %d_gain, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %once = sdiv i32 %n, %length
  %same = getelementptr float, ptr %d_gain, i32 %once
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %loop ]
  %row = sdiv i32 %i, %length
  %mine = add i32 %row, %t
  %own = getelementptr float, ptr %d_gain, i32 %mine
  %read = getelementptr float, ptr %d_x, i32 %row
  %0 = atomicrmw fadd ptr %own, float %v monotonic
  %1 = atomicrmw fadd ptr %same, float %v monotonic
  %2 = atomicrmw fadd ptr %read, float %v monotonic
  %3 = load float, ptr %read
  %more = fcmp ogt float %3, 0.0
  %next = add i32 %i, %width
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A loop over the grid seldom comes back to an element.
; CHECK-LABEL: define void @adgen_gradient_over_the_grid(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %place, float %v monotonic
; CHECK:         ret void
define void @adgen_gradient_over_the_grid(ptr %x, i32 %n, i32 %length, float %v, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %grid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %step = mul i32 %grid, %width
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %loop ]
  %row = sdiv i32 %i, %length
  %place = getelementptr float, ptr %d_gain, i32 %row
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %next = add i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
