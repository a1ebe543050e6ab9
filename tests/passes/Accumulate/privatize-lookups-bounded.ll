; Numbers at indices that the kernel keeps below something that all threads share are added to in the block's own table, which has as many
; elements as the launch says, or none where they are many.
;
; RUN: %opt -passes=adgen-privatize-lookups,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=OWN
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=NONE
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=LENT
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=ROUND
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=PAIR
; RUN: %opt -passes=adgen-privatize-lookups,adgen-make-kernels,verify -S %s | %filecheck %s --check-prefix=KERNEL

target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_exchange_interpolates.bounded = internal addrspace(3) global [2048 x float]
; CHECK: @adgen_exchange_labels.bounded = internal addrspace(3) global [1024 x double]
; CHECK: @adgen_exchange_kinds.bounded = internal addrspace(3) global [512 x float]

; Up to lut[n - 2 + 1]; a thread adds to two elements and zeroes no more than eight.
; CHECK-LABEL: define void @adgen_before_walk_interpolates(
; CHECK:         [[LESS:%.*]] = sub i32 %1, 2
; CHECK-NEXT:    [[WIDE:%.*]] = sext i32 [[LESS]] to i64
; CHECK-NEXT:    [[BYTES:%.*]] = mul i64 [[WIDE]], 4
; CHECK-NEXT:    [[SUM:%.*]] = add i64 {{.*}}, [[BYTES]]
; CHECK-NEXT:    [[LAST:%.*]] = freeze i64 [[SUM]]
; CHECK-NEXT:    [[BEFORE:%.*]] = udiv i64 [[LAST]], 4
; CHECK-NEXT:    [[COUNT:%.*]] = add i64 [[BEFORE]], 1
; CHECK-NEXT:    [[FEW:%.*]] = icmp ult i64 [[LAST]], 8192
; CHECK-NEXT:    [[NARROW:%.*]] = trunc i64 [[COUNT]] to i32
; CHECK-NEXT:    [[HAS:%.*]] = select i1 [[FEW]], i32 [[NARROW]], i32 0
; CHECK-NEXT:    [[MOST:%.*]] = mul i32 {{.*}}, 8
; CHECK-NEXT:    [[FIT:%.*]] = icmp ule i32 [[HAS]], [[MOST]]
; CHECK-NEXT:    select i1 [[FIT]], i32 [[HAS]], i32 0
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK-LABEL: define void @adgen_behind_walk_interpolates(
; CHECK:         fcmp {{.*}} float {{%.*}}, 0.000000e+00

; By a condition on the way there. Blocks walk over the grid where the table has more elements than a warp has lanes.
; CHECK-LABEL: define i1 @adgen_pays_to_walk_labels(
; CHECK:         [[WIDE:%.*]] = sext i32 %1 to i64
; CHECK-NEXT:    sub i64 [[WIDE]], 1
; CHECK:         [[MANY:%.*]] = icmp uge i32 {{%.*}}, 32
; CHECK-NEXT:    [[COUNT:%.*]] = select i1 [[MANY]], i32 {{%.*}}, i32 0
; CHECK-NEXT:    [[ANY:%.*]] = icmp ugt i32 [[COUNT]], 32
; CHECK-NEXT:    [[PAYS:%.*]] = or i1 false, [[ANY]]
; CHECK-NEXT:    ret i1 [[PAYS]]

; OWN-LABEL: define void @adgen_gradient_interpolates(
; OWN:         [[MANY:%.*]] = icmp uge i32 {{%.*}}, 32
; OWN-NEXT:    [[COUNT:%.*]] = select i1 [[MANY]], i32 {{%.*}}, i32 0
; OWN-NEXT:    [[ALL:%.*]] = zext i32 [[COUNT]] to i64
; OWN-NEXT:    [[END:%.*]] = mul i64 [[ALL]], 4
; OWN-NEXT:    [[BOTH:%.*]] = add i64 [[END]], -7
; OWN-NEXT:    [[LIMIT:%.*]] = call i64 @llvm.smax.i64(i64 [[BOTH]], i64 0)
; OWN:         [[AMONG:%.*]] = icmp ult i64 {{%.*}}, [[LIMIT]]
; OWN-NEXT:    br i1 [[AMONG]], label %[[OWN:.*]], label %[[SHADOW:.*]]
; OWN:       [[OWN]]:
; OWN:         %record = getelementptr i8, ptr addrspace(3) @adgen_exchange_interpolates.bounded, i32
; OWN:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %v monotonic, align 4, !adgen.table
; OWN:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %w monotonic, align 4, !adgen.table
; OWN:       [[SHADOW]]:
; OWN-NEXT:    atomicrmw fadd ptr %base, float %v
; OWN-NEXT:    atomicrmw fadd ptr %next, float %w
define void @adgen_gradient_interpolates(ptr %lut, i32 %n, float %t, float %v, float %w, ptr "adgen-shadow" %d_lut) "adgen-activity"="duplicated:const:const:const:const" "adgen-shared" {
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

; OWN-LABEL: define void @adgen_gradient_labels(
; OWN:         counts:
; OWN:         atomicrmw fadd ptr addrspace(3) {{%.*}}, double %v
define void @adgen_gradient_labels(ptr %labels, i32 %classes, i64 %i, double %v, ptr "adgen-shadow" %d_w) "adgen-activity"="const:const:const:duplicated" "adgen-shared" {
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

; KERNEL-LABEL: define ptx_kernel void @labels__gradient(
; KERNEL:         [[PAYS:%.*]] = call i1 @adgen_pays_to_walk_labels(ptr %0, i32 %1, i64 %2, double %3, ptr %4)
; KERNEL-NEXT:    [[STEP:%.*]] = select i1 [[PAYS]], i32 {{%.*}}, i32 [[ALL:%.*]]
; KERNEL-NEXT:    icmp ult i32 {{%.*}}, [[STEP]]
define void @interpolates(ptr %lut, i32 %n, float %t, float %v, float %w) {
  ret void
}
define void @labels(ptr %labels, i32 %classes, i64 %i, double %v) {
  ret void
}
define void @gathers(ptr %labels, i64 %i, float %v) {
  ret void
}
define void @kinds(ptr %table, i32 %n, ptr %kinds, float %v) {
  ret void
}

; Only the launch says how many there are.
; LENT-LABEL: define void @adgen_gradient_gathers.lent(
; LENT:         call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
; LENT:         ret void
define void @adgen_gradient_gathers(ptr %labels, i64 %i, float %v, ptr "adgen-shadow" %d_w) "adgen-activity"="const:const:duplicated" "adgen-shared" {
  %from = getelementptr i32, ptr %labels, i64 %i
  %label = load i32, ptr %from
  %wide = sext i32 %label to i64
  %at = getelementptr float, ptr %d_w, i64 %wide
  %1 = atomicrmw fadd ptr %at, float %v monotonic, align 4
  ret void
}

; A remainder by a constant asks nobody whether threads are as many.
; PAIR-LABEL: define void @adgen_gradient_days(
; PAIR:         atomicrmw fadd
define void @adgen_gradient_days(ptr %x, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" "adgen-shared" {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %day = urem i32 %i, 7
  %at = getelementptr float, ptr %d_x, i32 %day
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}
define void @days(ptr %x, float %v) {
  ret void
}

; By two kinds that were read there are n * n elements, it seems; what lies behind is added to in the shadow.
; PAIR-LABEL: define i1 @adgen_pays_to_walk_kinds(
; PAIR:         [[N:%.*]] = sext i32 %1 to i64
; PAIR-NEXT:    [[M:%.*]] = sext i32 %1 to i64
; PAIR-NEXT:    [[ALL:%.*]] = mul i64 [[N]], [[M]]
; PAIR-NEXT:    sub i64 [[ALL]], 1
; PAIR:         icmp ult i64 {{%.*}}, {{2048|%.*}}
define void @adgen_gradient_kinds(ptr %table, i32 %n, ptr %kinds, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = getelementptr i32, ptr %kinds, i32 %i
  %second = getelementptr i32, ptr %first, i32 1
  %a = load i32, ptr %first
  %b = load i32, ptr %second
  %row = mul nsw i32 %n, %a
  %at = add nsw i32 %row, %b
  %wide = sext i32 %at to i64
  %base = getelementptr float, ptr %d_table, i64 %wide
  %1 = atomicrmw fadd ptr %base, float %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define void @ring(ptr %u, i32 %n, float %v) {
  ret void
}

; As many as the grid's threads, of which each asks for its neighbour.
; NONE-LABEL: define void @adgen_gradient_ring(
; NONE-NOT:     barrier
; NONE:         atomicrmw fadd ptr %neighbour, float %v
; NONE:         ret void
define void @adgen_gradient_ring(ptr %u, i32 %n, float %v, ptr "adgen-shadow" %d_u) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %sum = add i32 %block, %n
  %before = add i32 %sum, -1
  %wrapped = srem i32 %before, %n
  %wide = sext i32 %wrapped to i64
  %neighbour = getelementptr float, ptr %d_u, i64 %wide
  %1 = atomicrmw fadd ptr %neighbour, float %v monotonic, align 4
  ret void
}

define void @rounds(ptr %x, ptr %table, i64 %i, float %v) {
  ret void
}

; Nor where what was rounded leads to.
; ROUND-LABEL: define void @adgen_gradient_rounds.lent(
; ROUND:         call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
; ROUND:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %v monotonic, align 4, !adgen.table
; ROUND:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float %v monotonic, align 4, !adgen.table
; ROUND:         atomicrmw fadd ptr %base, float %v
; ROUND-NEXT:    atomicrmw fadd ptr %beside, float %v
define void @adgen_gradient_rounds(ptr %x, ptr %table, i64 %i, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="const:duplicated:const:const" "adgen-shared" {
  %from = getelementptr float, ptr %x, i64 %i
  %number = load float, ptr %from
  %scaled = fmul float %number, 3.0
  %k = fptosi float %scaled to i32
  %k.next = add nsw i32 %k, 1
  %wide = sext i32 %k to i64
  %wide.next = sext i32 %k.next to i64
  %base = getelementptr float, ptr %d_table, i64 %wide
  %beside = getelementptr i8, ptr %base, i64 4
  %1 = atomicrmw fadd ptr %base, float %v monotonic, align 4
  %2 = atomicrmw fadd ptr %beside, float %v monotonic, align 4
  ret void
}
