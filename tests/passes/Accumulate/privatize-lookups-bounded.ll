; Numbers at indices that the kernel keeps below something that all threads share are added to in the block's own table, which has as many
; elements as the launch says, or none where they are many.
;
; RUN: %opt -passes=adgen-privatize-lookups,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_exchange_interpolates.bounded = internal addrspace(3) global [2048 x float]
; CHECK: @adgen_exchange_labels.bounded = internal addrspace(3) global [1024 x double]

; Up to lut[n - 2 + 1]; a thread adds to two elements and zeroes no more than eight.
; CHECK-LABEL: define void @adgen_gradient_interpolates(
; CHECK:         [[LESS:%.*]] = sub i32 %n, 2
; CHECK-NEXT:    [[WIDE:%.*]] = sext i32 [[LESS]] to i64
; CHECK-NEXT:    [[BYTES:%.*]] = mul i64 [[WIDE]], 4
; CHECK-NEXT:    [[SUM:%.*]] = add i64 {{.*}}, [[BYTES]]
; CHECK-NEXT:    [[LAST:%.*]] = freeze i64 [[SUM]]
; CHECK-NEXT:    [[EACH:%.*]] = mul i32 {{.*}}, 32
; CHECK-NEXT:    [[SOME:%.*]] = zext i32 [[EACH]] to i64
; CHECK-NEXT:    [[FIT:%.*]] = call i64 @llvm.umin.i64(i64 8192, i64 [[SOME]])
; CHECK-NEXT:    [[BEFORE:%.*]] = udiv i64 [[LAST]], 4
; CHECK-NEXT:    [[COUNT:%.*]] = add i64 [[BEFORE]], 1
; CHECK-NEXT:    [[FEW:%.*]] = icmp ult i64 [[LAST]], [[FIT]]
; CHECK-NEXT:    [[NARROW:%.*]] = trunc i64 [[COUNT]] to i32
; CHECK-NEXT:    [[HERE:%.*]] = select i1 [[FEW]], i32 [[NARROW]], i32 0
; CHECK-NEXT:    [[ALL:%.*]] = zext i32 [[HERE]] to i64
; CHECK-NEXT:    [[END:%.*]] = mul i64 [[ALL]], 4
; CHECK-NEXT:    [[BOTH:%.*]] = add i64 [[END]], -7
; CHECK-NEXT:    [[LIMIT:%.*]] = call i64 @llvm.smax.i64(i64 [[BOTH]], i64 0)
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         [[AMONG:%.*]] = icmp ult i64 {{%.*}}, [[LIMIT]]
; CHECK-NEXT:    br i1 [[AMONG]], label %[[OWN:.*]], label %[[SHADOW:.*]]
; CHECK:       [[OWN]]:
; CHECK:         %record = getelementptr i8, ptr addrspace(3) @adgen_exchange_interpolates.bounded, i32
; CHECK:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %v monotonic, align 4, !adgen.table
; CHECK:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %w monotonic, align 4, !adgen.table
; CHECK:       [[SHADOW]]:
; CHECK-NEXT:    atomicrmw fadd ptr %base, float %v
; CHECK-NEXT:    atomicrmw fadd ptr %next, float %w
; CHECK:         fcmp {{.*}} float {{%.*}}, 0.000000e+00
define void @adgen_gradient_interpolates(ptr %lut, i32 %n, float %t, float %v, float %w, ptr "adgen-shadow" %d_lut) "adgen-activity"="const:const:const:const:const" {
  %k = fptosi float %t to i32
  %most = sub nsw i32 %n, 2
  %at = call i32 @llvm.smin.i32(i32 %most, i32 %k)
  %wide = sext i32 %at to i64
  %base = getelementptr float, ptr %d_lut, i64 %wide
  %next = getelementptr i8, ptr %base, i64 4
  %1 = atomicrmw fadd ptr %base, float %v monotonic, align 4
  %2 = atomicrmw fadd ptr %next, float %w monotonic, align 4
  ret void
}

; By a condition on the way there.
; CHECK-LABEL: define void @adgen_gradient_labels(
; CHECK:         [[WIDE:%.*]] = sext i32 %classes to i64
; CHECK-NEXT:    sub i64 [[WIDE]], 1
; CHECK:       counts:
; CHECK:         atomicrmw fadd ptr addrspace(3) {{%.*}}, double %v
define void @adgen_gradient_labels(ptr %labels, i32 %classes, i64 %i, double %v, ptr "adgen-shadow" %d_w) "adgen-activity"="const:const:const:const" {
  %from = getelementptr i32, ptr %labels, i64 %i
  %label = load i32, ptr %from
  %above = icmp sgt i32 %label, -1
  %below = icmp slt i32 %label, %classes
  %known = and i1 %above, %below
  br i1 %known, label %counts, label %out
counts:
  %wide = sext i32 %label to i64
  %at = getelementptr double, ptr %d_w, i64 %wide
  %1 = atomicrmw fadd ptr %at, double %v monotonic, align 8
  br label %out
out:
  ret void
}

; Nothing says how many there are.
; CHECK-LABEL: define void @adgen_gradient_gathers(
; CHECK-NOT:     barrier
; CHECK:         ret void
define void @adgen_gradient_gathers(ptr %labels, i64 %i, float %v, ptr "adgen-shadow" %d_w) "adgen-activity"="const:const:const" {
  %from = getelementptr i32, ptr %labels, i64 %i
  %label = load i32, ptr %from
  %wide = sext i32 %label to i64
  %at = getelementptr float, ptr %d_w, i64 %wide
  %1 = atomicrmw fadd ptr %at, float %v monotonic, align 4
  ret void
}
