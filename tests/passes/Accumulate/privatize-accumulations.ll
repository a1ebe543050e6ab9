; Elements to which every warp of a block adds, or every row that a block walks through, are the block's in shared memory
; until its threads have come to the end.
;
; RUN: %opt -passes=adgen-privatize-accumulations -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @adgen_exchange_rows.sums = internal addrspace(3) global [4096 x float] undef
; CHECK-DAG: @adgen_exchange_walks.sums = internal addrspace(3) global [2048 x double] undef
; CHECK-DAG: @adgen_exchange_blocks.sums = internal addrspace(3) global [4096 x float] undef

; A block that may wait for another one does not walk: that one's work may come behind its own.
; CHECK-LABEL: define void @adgen_gradient_waits(
; CHECK-NOT:     addrspace(3)
; CHECK:         ret void
define void @adgen_gradient_waits(ptr %gain, ptr %flag, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %t to i64
  %place = getelementptr float, ptr %d_gain, i64 %at
  br label %loop
loop:
  %there = load volatile i32, ptr %flag
  %yet = icmp eq i32 %there, 0
  br i1 %yet, label %loop, label %done
done:
  %0 = atomicrmw fadd ptr %place, float 1.0 monotonic
  ret void
}

; A row for each warp: gain[lane + 32 * i].
; CHECK-LABEL: define void @adgen_gradient_rows(
; CHECK:         [[MANY:%.*]] = mul i32 [[THREADS:%.*]], 16
; CHECK:         [[MOST:%.*]] = call i32 @llvm.umin.i32(i32 [[MANY]], i32 4096)
; CHECK:         [[ONE:%.*]] = icmp ule i32 [[THREADS]], 32
; CHECK:         [[SOME:%.*]] = select i1 [[ONE]], i32 0, i32 [[MOST]]
; CHECK:         [[MANY:%.*]] = icmp uge i32 {{.*}}, 32
; CHECK:         [[COUNT:%.*]] = select i1 [[MANY]], i32 [[SOME]], i32 0
; CHECK:         [[ANY:%.*]] = icmp ne i32 {{.*}}, 0
; CHECK:         br i1 [[ANY]]
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[BYTES:%.*]] = sub i64
; CHECK:         [[END:%.*]] = mul i64 {{.*}}, 4
; CHECK:         [[OWN:%.*]] = icmp ult i64 [[BYTES]], [[END]]
; CHECK:         br i1 [[OWN]], label %[[HERE:.*]], label %[[THERE:.*]]
; CHECK:       [[HERE]]:
; CHECK:         atomicrmw fadd ptr addrspace(3) {{.*}}, float %v
; CHECK:       [[THERE]]:
; CHECK-NEXT:    atomicrmw fadd ptr %place, float %v
; CHECK:         atomicrmw fadd ptr %mine, float %v
; CHECK:       end:
; CHECK:         [[ANY:%.*]] = icmp ne i32 {{.*}}, 0
; CHECK:         br i1 [[ANY]], label %[[SUMS:.*]], label %
; CHECK:       [[SUMS]]:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    [[ANY:%.*]] = fcmp une float [[SUM]], 0.000000e+00
; CHECK:         atomicrmw fadd ptr {{.*}}, float [[SUM]] monotonic
; CHECK:         ret void
define void @adgen_gradient_rows(ptr %gain, ptr %x, i32 %rows, i32 %n, ptr "adgen-shadow" %d_gain, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:duplicated:const:const" "adgen-shared" {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = lshr i32 %t, 5
  %lane = and i32 %t, 31
  %from = shl i32 %b, 2
  %row = add i32 %from, %w
  %in = icmp ult i32 %row, %rows
  br i1 %in, label %loop, label %out
loop:
  %c = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %at = zext i32 %c to i64
  %first = mul i32 %row, %n
  %own = add i32 %first, %c
  %far = zext i32 %own to i64
  %from.x = getelementptr float, ptr %x, i64 %far
  %v = load float, ptr %from.x
  %place = getelementptr float, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, float %v monotonic
  %mine = getelementptr float, ptr %d_x, i64 %far
  %1 = atomicrmw fadd ptr %mine, float %v monotonic
  %next = add i32 %c, 32
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
out:
  ret void
}

; Numbers of 16 bits are added up in 32: two bytes further in the shadow are four of the block's.
; CHECK-LABEL: define void @adgen_gradient_halves(
; CHECK:         [[OWN:%.*]] = icmp ult i64
; CHECK:         br i1 [[OWN]], label %[[HERE:.*]], label %[[THERE:.*]]
; CHECK:       [[HERE]]:
; CHECK-NEXT:    [[NEAR:%.*]] = trunc i64 {{.*}} to i32
; CHECK-NEXT:    [[FAR:%.*]] = mul nuw nsw i32 [[NEAR]], 2
; CHECK-NEXT:    [[AT:%.*]] = getelementptr inbounds i8, ptr addrspace(3) @adgen_exchange_halves.sums, i32 [[FAR]]
; CHECK:         [[WIDE:%.*]] = fpext half %v to float
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(3) {{.*}}, float [[WIDE]]
; CHECK:       [[THERE]]:
; CHECK-NEXT:    atomicrmw fadd ptr %place, half %v
; CHECK:       out:
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    [[LESS:%.*]] = fptrunc float [[SUM]] to half
; CHECK:         atomicrmw fadd ptr {{.*}}, half [[LESS]] monotonic
define void @adgen_gradient_halves(ptr %gain, ptr %x, i32 %n, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  br label %loop
loop:
  %c = phi i32 [ %lane, %entry ], [ %next, %loop ]
  %at = zext i32 %c to i64
  %from.x = getelementptr half, ptr %x, i64 %at
  %v = load half, ptr %from.x
  %place = getelementptr half, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, half %v monotonic
  %next = add i32 %c, 32
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}

; A block walks through rows, and each of its threads adds to the same columns in each, which in a row of at most 128
; threads are its own.
; CHECK-LABEL: define void @adgen_gradient_walks(
; CHECK:         [[SHORT:%.*]] = icmp ule i32 {{.*}}, 128
; CHECK:         [[OLD:%.*]] = load double, ptr addrspace(3) [[PLACE:%.*]], align 8
; CHECK-NEXT:    [[NEW:%.*]] = fadd double [[OLD]], 1.000000e+00
; CHECK-NEXT:    store double [[NEW]], ptr addrspace(3) [[PLACE]], align 8
define void @adgen_gradient_walks(ptr %gain, i32 %rows, i32 %n, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %row = phi i32 [ %b, %entry ], [ %below, %behind ]
  br label %loop
loop:
  %c = phi i32 [ %t, %outer ], [ %next, %loop ]
  %at = zext i32 %c to i64
  %place = getelementptr double, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, double 1.0 monotonic
  %next = add i32 %c, 128
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %behind
behind:
  %below = add i32 %row, 64
  %on = icmp ult i32 %below, %rows
  br i1 %on, label %outer, label %done
done:
  ret void
}

; Blocks with a tape that each do the work of one alone come to no element twice: that the launched are fewer than the
; grid has is seen in front of the first, too.
; CHECK-LABEL: define void @adgen_gradient_taped(
; CHECK:         [[ROWS:%.*]] = mul i32 %x, %y
; CHECK-NEXT:    [[BLOCKS:%.*]] = mul i32 [[ROWS]], %z
; CHECK-NEXT:    [[FEWER:%.*]] = icmp ult i32 {{.*}}, [[BLOCKS]]
; CHECK-NEXT:    select i1 [[FEWER]], i32 {{.*}}, i32 0
; CHECK:         store float {{.*}}, ptr addrspace(3)
define void @adgen_gradient_taped(ptr %gain, ptr "adgen-shadow" %d_gain, ptr %tape, i64 %bytes, i32 %bx, i32 %by, i32 %bz, i32 %x, i32 %y, i32 %z) "adgen-activity"="duplicated" "adgen-shared" "adgen-tape"="scalars" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %t to i64
  %place = getelementptr float, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, float 1.0 monotonic
  ret void
}

; Threads of other rows of the block come to the same element, so that it is no thread's own.
; CHECK-LABEL: define void @adgen_gradient_planes(
; CHECK-NOT:     addrspace(3)
; CHECK:         ret void
define void @adgen_gradient_planes(ptr %gain, ptr %x, i32 %n, ptr "adgen-shadow" %d_gain) "adgen-activity"="duplicated:const:const" "adgen-shared" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  br label %outer
outer:
  %r = phi i32 [ %row, %entry ], [ %below, %outer ]
  %at = zext i32 %t to i64
  %place = getelementptr float, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, float 1.0 monotonic
  %below = add i32 %r, 64
  %on = icmp ult i32 %below, %n
  br i1 %on, label %outer, label %done
done:
  ret void
}

; CHECK-LABEL: define void @adgen_before_walk_taped(
; CHECK-SAME:    i32 [[X:%[0-9]+]], i32 [[Y:%[0-9]+]], i32 [[Z:%[0-9]+]])
; CHECK:         mul i32 [[X]], [[Y]]

; Of a row for each block others come to the element only where blocks walk: its work is then that of the last argument.
; What is read must be there.
; CHECK-LABEL: define void @adgen_gradient_blocks(
; CHECK-SAME:    i32 [[BLOCK:%[0-9]+]]) [[WALK:#[0-9]+]]
; CHECK:         [[COUNT:%.*]] = select i1 {{.*}}, i32 {{.*}}, i32 0
; CHECK:         br i1 {{.*}}, label %[[HERE:.*]], label %[[THERE:.*]]
; CHECK:       [[HERE]]:
; CHECK:         store float {{.*}}, ptr addrspace(3)
; CHECK:       [[THERE]]:
; CHECK-NEXT:    atomicrmw fadd ptr %place, float 1.000000e+00
; CHECK:         atomicrmw fadd ptr %read, float 1.000000e+00
; CHECK:         add i32 [[BLOCK]], 1
define void @adgen_gradient_blocks(ptr %gain, ptr %x, i32 %n, ptr "adgen-shadow" %d_gain, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:duplicated:const" "adgen-shared" {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %near = zext i32 %lane to i64
  %read = getelementptr float, ptr %d_x, i64 %near
  br label %loop
loop:
  %c = phi i32 [ %t, %entry ], [ %next, %loop ]
  %at = zext i32 %c to i64
  %place = getelementptr float, ptr %d_gain, i64 %at
  %0 = atomicrmw fadd ptr %place, float 1.0 monotonic
  %1 = atomicrmw fadd ptr %read, float 1.0 monotonic
  %v = load float, ptr %read
  store float %v, ptr %x
  %two = add i32 %b, 1
  %there = zext i32 %two to i64
  %out = getelementptr float, ptr %x, i64 %there
  store float %v, ptr %out
  %next = add i32 %c, 128
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @adgen_before_walk_blocks(
; CHECK:         store float 0.000000e+00, ptr addrspace(3)
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK-LABEL: define void @adgen_behind_walk_blocks(
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK:         [[SUM:%.*]] = load float, ptr addrspace(3)
; CHECK-NEXT:    [[ANY:%.*]] = fcmp une float [[SUM]], 0.000000e+00
; CHECK:         atomicrmw fadd ptr {{.*}}, float [[SUM]] monotonic

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()

; CHECK: attributes [[WALK]] = { {{.*}}"adgen-walk"{{.*}}"nvvm.maxnreg"="64"
