; Of a table of which the kernel says nothing the launch does: where it lends dynamic shared memory, whose lowest bits say for
; which tables that is, a gradient of its own runs, of which a block has the whole shadow there.
;
; RUN: %opt -passes=adgen-privatize-lookups,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-privatize-lookups,adgen-make-kernels,always-inline,globaldce,adgen-verify-device -disable-output %s | %filecheck %s --check-prefix=FACTS
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=OWN
; RUN: %opt -passes=adgen-privatize-lookups -S %s | %filecheck %s --check-prefix=NONE

target triple = "nvptx64-nvidia-cuda"

; CHECK: @adgen_lent_tables = external addrspace(3) global [0 x i8], align 16

; FACTS: "takes":{{.*}}"lent":[],
; FACTS-SAME: "weighs":{{.*}}"dynamic_shared":false,{{.*}}"lent":[{"shadow":1,"widening":1},{"shadow":0,"widening":2}]

define void @weighs(ptr %scale, ptr %weights, ptr %labels, i64 %i, float %v, half %h) {
  ret void
}

; OWN-LABEL: define void @adgen_gradient_weighs(
; OWN-NOT:     dynamic_smem_size
; OWN:         ret void
; NONE-NOT:    @adgen_gradient_{{takes|rows|lists}}.lent
; CHECK-LABEL: define void @adgen_gradient_weighs.lent(
; CHECK-NEXT:    [[BYTES:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
; CHECK-NEXT:    [[FIRST:%.*]] = and i32 [[BYTES]], 1
; CHECK-NEXT:    [[BEFORE:%.*]] = call i32 @llvm.ctpop.i32(i32 [[FIRST]])
; CHECK:         [[FROM:%.*]] = mul i32 [[BEFORE]], {{%.*}}
; CHECK-NEXT:    [[SECOND:%.*]] = getelementptr i8, ptr addrspace(3) @adgen_lent_tables, i32 [[FROM]]
; CHECK:         and i32 {{%.*}}, 2
; CHECK:         [[BYTES:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
; CHECK-NEXT:    [[BIT:%.*]] = and i32 [[BYTES]], 1
; CHECK-NEXT:    [[THERE:%.*]] = icmp ne i32 [[BIT]], 0
; CHECK-NEXT:    [[WHICH:%.*]] = and i32 [[BYTES]], 15
; CHECK-NEXT:    [[COUNT:%.*]] = call i32 @llvm.ctpop.i32(i32 [[WHICH]])
; CHECK-NEXT:    [[SOME:%.*]] = call i32 @llvm.umax.i32(i32 [[COUNT]], i32 1)
; CHECK-NEXT:    [[ALL:%.*]] = lshr i32 [[BYTES]], 4
; CHECK-NEXT:    [[PARTS:%.*]] = udiv i32 [[ALL]], [[SOME]]
; CHECK-NEXT:    [[EACH:%.*]] = shl i32 [[PARTS]], 4
; CHECK-NEXT:    [[MINE:%.*]] = select i1 [[THERE]], i32 [[EACH]], i32 0
; CHECK-NEXT:    udiv i32 [[MINE]], 4
; CHECK:         %record = getelementptr i8, ptr addrspace(3) @adgen_lent_tables
; CHECK-NEXT:    [[AT:%.*]] = getelementptr i8, ptr addrspace(3) %record, i64 0
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(3) [[AT]], float %v
; CHECK:         atomicrmw fadd ptr %place, float %v
; CHECK:         getelementptr i8, ptr addrspace(3) [[SECOND]]
; CHECK:         atomicrmw fadd ptr addrspace(3) {{%.*}}, float
; CHECK:         atomicrmw fadd ptr %near, half %h
define void @adgen_gradient_weighs(ptr %scale, ptr %weights, ptr %labels, i64 %i, float %v, half %h, ptr "adgen-shadow" %d_scale, ptr "adgen-shadow" %d_weights) "adgen-activity"="duplicated:duplicated:const:const:const:const" "adgen-shared" {
  %from = getelementptr i32, ptr %labels, i64 %i
  %label = load i32, ptr %from
  %wide = sext i32 %label to i64
  %place = getelementptr float, ptr %d_weights, i64 %wide
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  %near = getelementptr half, ptr %d_scale, i64 %wide
  %2 = atomicrmw fadd ptr %near, half %h monotonic, align 2
  ret void
}

; Dynamic shared memory that the kernel has for itself is lent to nobody.
@own = external addrspace(3) global [0 x float]

define void @takes(ptr %weights, ptr %labels, i64 %i, float %v) {
  %first = load float, ptr addrspace(3) @own
  ret void
}

; OWN-LABEL: define void @adgen_gradient_takes(
; OWN-NOT:     dynamic_smem_size
; OWN:         ret void
define void @adgen_gradient_takes(ptr %weights, ptr %labels, i64 %i, float %v, ptr "adgen-shadow" %d_weights, ptr %s, ptr "adgen-shared-shadow" %d_s) "adgen-activity"="duplicated:const:const:const" "adgen-shared"="own" {
  %from = getelementptr i32, ptr %labels, i64 %i
  %label = load i32, ptr %from
  %wide = sext i32 %label to i64
  %place = getelementptr float, ptr %d_weights, i64 %wide
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  ret void
}

define void @rows(ptr %table, ptr %tokens, i32 %width, float %v) {
  ret void
}

; Nor are there tables where lanes lie side by side in what they have looked up.
; OWN-LABEL: define void @adgen_gradient_rows(
; OWN-NOT:     dynamic_smem_size
; OWN:         ret void
define void @adgen_gradient_rows(ptr %table, ptr %tokens, i32 %width, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %token = udiv i32 %i, %width
  %from = getelementptr i32, ptr %tokens, i32 %token
  %row = load i32, ptr %from
  %begin = mul i32 %row, %width
  %column = urem i32 %i, %width
  %index = add i32 %begin, %column
  %place = getelementptr float, ptr %d_table, i32 %index
  %1 = atomicrmw fadd ptr %place, float %v monotonic, align 4
  ret void
}

define void @lists(ptr %table, ptr %found, float %v) {
  ret void
}

; Nor in a loop that may walk through a local array.
; OWN-LABEL: define void @adgen_gradient_lists(
; OWN-NOT:     dynamic_smem_size
; OWN:         ret void
define void @adgen_gradient_lists(ptr %table, ptr %found, float %v, ptr "adgen-shadow" %d_table) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %best = alloca [8 x float]
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr i32, ptr %found, i64 %k
  %which = load i32, ptr %from
  %own = getelementptr float, ptr %best, i64 %k
  %number = load float, ptr %own
  %place = getelementptr float, ptr %d_table, i32 %which
  %1 = atomicrmw fadd ptr %place, float %number monotonic, align 4
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 8
  br i1 %more, label %loop, label %out
out:
  ret void
}
