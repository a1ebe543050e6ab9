; What a thread adds to a column that is a remainder of an element's number is held while the column stays the same.
;
; RUN: %opt -passes=adgen-hold-additions,sroa,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_columns(
; CHECK:       loop:
; CHECK-DAG:     [[SUM:%.*]] = phi float [ 0.000000e+00, %entry ], [ [[NEXT:%.*]], %[[ON:.*]] ]
; CHECK-DAG:     [[OTHER:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %[[ON]] ]
; CHECK-DAG:     [[HELD:%.*]] = phi ptr [ null, %entry ], [ {{.*}}, %[[ON]] ]
; CHECK:         [[MOVED:%.*]] = icmp ne ptr [[HELD]], %place
; CHECK-NEXT:    br i1 [[MOVED]], label %[[MOVES:.*]], label %[[ON]]
; CHECK:       [[MOVES]]:
; CHECK-NEXT:    [[ANY:%.*]] = icmp ne ptr [[HELD]], null
; CHECK-NEXT:    br i1 [[ANY]], label %[[ADDS:.*]], label %[[MOVED:.*]]
; CHECK:       [[ADDS]]:
; CHECK:         atomicrmw fadd ptr {{.*}}, float [[SUM]] monotonic
; CHECK:         atomicrmw fadd ptr {{.*}}, float [[OTHER]] monotonic
; CHECK:       [[ON]]:
; CHECK:         fadd float {{.*}}, %v
; CHECK-NOT:     atomicrmw
; CHECK:       done:
; CHECK:         icmp ne ptr {{.*}}, null
; CHECK:         atomicrmw fadd
; CHECK:         atomicrmw fadd
; CHECK:         ret void
define void @adgen_gradient_columns(ptr %x, i32 %n, i32 %dim, float %v, ptr "adgen-shadow" %d_bias) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %grid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %step = shl i32 %grid, 8
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %loop ]
  %column = srem i32 %i, %dim
  %wide = sext i32 %column to i64
  %place = getelementptr [2 x float], ptr %d_bias, i64 %wide
  %second = getelementptr i8, ptr %place, i64 4
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %1 = atomicrmw fadd ptr %second, float %v monotonic
  %next = add i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A column that each iteration counts on, or that is read, is another one.
; CHECK-LABEL: define void @adgen_gradient_others(
; CHECK:       loop:
; CHECK:         atomicrmw fadd ptr %place, float %v monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %read, float %v monotonic
; CHECK:       done:
; CHECK-NEXT:    ret void
define void @adgen_gradient_others(ptr %x, i32 %n, i32 %dim, float %v, ptr "adgen-shadow" %d_bias, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %grid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %step = shl i32 %grid, 8
  br label %loop
loop:
  %i = phi i32 [ %t, %entry ], [ %next, %loop ]
  %wide = sext i32 %i to i64
  %place = getelementptr float, ptr %d_bias, i64 %wide
  %column = srem i32 %i, 7
  %few = sext i32 %column to i64
  %read = getelementptr float, ptr %d_x, i64 %few
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %1 = atomicrmw fadd ptr %read, float %v monotonic
  %next = add i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
