; What lanes of a warp add to one element, they add up first. Which lanes those are follows from the registers that the address depends on.
;
; RUN: %opt -passes=adgen-warp-aggregate-atomics -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; All threads add to the same element: nothing has to be compared.
; CHECK-LABEL: define void @same_everywhere(
; CHECK:         [[ELEMENTS:%.*]] = alloca [1 x ptr]
; CHECK:         [[VALUES:%.*]] = alloca [1 x float]
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK:         store ptr %d_x, ptr
; CHECK:         store float %v, ptr
; CHECK-NEXT:    call void @adgen_add_warp_f32_1(ptr [[ELEMENTS]], ptr [[VALUES]], i32 [[ACTIVE]], i32 [[ACTIVE]], i1 false) #[[CONVERGENT:[0-9]+]]
; CHECK-NEXT:    ret void
define void @same_everywhere(float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="active" {
  %1 = atomicrmw fadd ptr %d_x, float %v monotonic
  ret void
}

; A rule takes its elements for addresses anywhere.
; CHECK-LABEL: define void @in_space(
; CHECK:         [[ANYWHERE:%.*]] = addrspacecast ptr addrspace(3) %near to ptr
; CHECK:         store ptr [[ANYWHERE]], ptr
; CHECK:         call void @adgen_add_warp_f32_1(
define void @in_space(float %v, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="active:const" {
  %near = addrspacecast ptr %d_tile to ptr addrspace(3)
  %1 = atomicrmw fadd ptr addrspace(3) %near, float %v monotonic
  ret void
}

; What a loop counts may differ between lanes that are not in the same iteration: the lanes that are here compare it. Accumulations of
; the same kind are handed over together, at the last one's place.
; CHECK-LABEL: define void @same_in_an_iteration(
; CHECK:       loop:
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[SAME:%.*]] = call i32 @adgen_alike(i32 [[ACTIVE]], i64 %k, i1 true)
; CHECK-NEXT:    [[ALIKE:%.*]] = and i32 [[ACTIVE]], [[SAME]]
; CHECK:         call void @adgen_add_warp_f64_3(ptr {{.*}}, ptr {{.*}}, i32 [[ACTIVE]], i32 [[ALIKE]], i1 false)
; CHECK-NOT:     atomicrmw
; CHECK:       end:
define void @same_in_an_iteration(i64 %n, double %v, ptr %tile, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = getelementptr double, ptr %d_tile, i64 %k
  %b = getelementptr double, ptr %a, i64 %n
  %c = getelementptr double, ptr %b, i64 %n
  %1 = atomicrmw fadd ptr %a, double %v monotonic
  %2 = atomicrmw fadd ptr %b, double %v monotonic
  %w = load double, ptr %tile
  %3 = atomicrmw fadd ptr %c, double %w monotonic
  %next = add i64 %k, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; So is what rows of the block count from their own index on, as most rows are whole warps.
; CHECK-LABEL: define void @counted_by_rows(
; CHECK:       loop:
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK:         [[SAME:%.*]] = call i32 @adgen_alike(i32 [[ACTIVE]], {{.*}}, i1 false)
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK-NOT:     atomicrmw
; CHECK:       end:
define void @counted_by_rows(i32 %n, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
entry:
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %rows = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  br label %loop
loop:
  %k = phi i32 [ %y, %entry ], [ %next, %loop ]
  %a = getelementptr float, ptr %d_x, i32 %k
  %1 = atomicrmw fadd ptr %a, float %v monotonic
  %next = add i32 %k, %rows
  %done = icmp sge i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; A lane hands what it adds on both sides of its own element on to the lanes beside it, also where the places follow from 32-bit numbers that do
; not overflow. What belongs to another row is added where it is.
; CHECK-LABEL: define void @beside(
; CHECK:         atomicrmw fadd ptr %above, float %w monotonic
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[BESIDE:%.*]] = call i32 @adgen_beside(i32 [[ACTIVE]], ptr %own, i64 4)
; CHECK-NEXT:    [[LEFT:%.*]] = call {{.*}}float @adgen_hand_on_f32(i32 [[ACTIVE]], i32 [[BESIDE]], i32 -1, ptr %left, float %v) #[[CONVERGENT]]
; CHECK-NEXT:    [[ONE:%.*]] = fadd {{.*}}float %w, [[LEFT]]
; CHECK-NEXT:    [[RIGHT:%.*]] = call {{.*}}float @adgen_hand_on_f32(i32 [[ACTIVE]], i32 [[BESIDE]], i32 1, ptr %right, float %v) #[[CONVERGENT]]
; CHECK-NEXT:    [[BOTH:%.*]] = fadd {{.*}}float [[ONE]], [[RIGHT]]
; CHECK-NEXT:    atomicrmw fadd ptr %own, float [[BOTH]] monotonic
; CHECK-NEXT:    ret void
define void @beside(float %v, float %w, i32 %nx, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = mul nsw i32 %y, %nx
  %center = add nsw i32 %row, %x
  %c = sext i32 %center to i64
  %own = getelementptr float, ptr %d_x, i64 %c
  %before = add nsw i32 %x, -1
  %before.center = add nsw i32 %before, %row
  %l = sext i32 %before.center to i64
  %left = getelementptr float, ptr %d_x, i64 %l
  %right = getelementptr i8, ptr %own, i64 4
  %other = add nsw i32 %center, %nx
  %a = sext i32 %other to i64
  %above = getelementptr float, ptr %d_x, i64 %a
  %1 = atomicrmw fadd ptr %above, float %w monotonic
  %2 = atomicrmw fadd ptr %right, float %v monotonic
  %3 = atomicrmw fadd ptr %own, float %w monotonic
  %4 = atomicrmw fadd ptr %left, float %v monotonic
  ret void
}

; Not in blocks of unusual extents.
; CHECK-LABEL: define void @seldom_beside(
; CHECK-NOT:     @adgen_beside
; CHECK:         ret void
define void @seldom_beside(float %v, float %w, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = sext i32 %x to i64
  %own = getelementptr float, ptr %d_x, i64 %c
  %left = getelementptr i8, ptr %own, i64 -4
  %right = getelementptr i8, ptr %own, i64 4
  %1 = atomicrmw fadd ptr %right, float %v monotonic, !adgen.seldom !0
  %2 = atomicrmw fadd ptr %own, float %w monotonic, !adgen.seldom !0
  %3 = atomicrmw fadd ptr %left, float %v monotonic, !adgen.seldom !0
  ret void
}

; Not where a number may overflow on its way to a place, nor far away, nor where something may read the element in between, nor where the
; places were read.
; CHECK-LABEL: define void @not_beside(
; CHECK-NOT:     @adgen_beside
; CHECK:         ret void
define void @not_beside(float %v, i32 %n, ptr %index, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="const:const:const:duplicated:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = mul i32 %y, %n
  %center = add i32 %row, %x
  %c = sext i32 %center to i64
  %own = getelementptr float, ptr %d_x, i64 %c
  %wrapped = add i32 %center, 1
  %w = sext i32 %wrapped to i64
  %next = getelementptr float, ptr %d_x, i64 %w
  %far = getelementptr i8, ptr %own, i64 400
  %1 = atomicrmw fadd ptr %own, float %v monotonic
  %2 = atomicrmw fadd ptr %next, float %v monotonic
  %3 = atomicrmw fadd ptr %far, float %v monotonic
  %mine = getelementptr float, ptr %d_y, i64 %c
  %second = getelementptr i8, ptr %mine, i64 4
  %4 = atomicrmw fadd ptr %mine, float %v monotonic
  %read = load float, ptr %mine
  %5 = atomicrmw fadd ptr %second, float %read monotonic
  %place = getelementptr i64, ptr %index, i64 %c
  %i = load i64, ptr %place
  %given = getelementptr float, ptr %d_x, i64 %i
  %after = getelementptr i8, ptr %given, i64 4
  %6 = atomicrmw fadd ptr %given, float %v monotonic
  %7 = atomicrmw fadd ptr %after, float %v monotonic
  ret void
}

; In a tile, rows and columns of the block have elements in common. Columns matter in shared memory only.
; CHECK-LABEL: define void @rows_and_columns(
; CHECK:         atomicrmw fadd ptr %in.column
; CHECK:         call void @adgen_add_row_f32_1(
; CHECK:         call void @adgen_add_column_f32_1(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @rows_and_columns(float %v, ptr "adgen-shadow" %d_x, ptr %tile, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %row = zext i32 %y to i64
  %column = zext i32 %x to i64
  %in.column = getelementptr float, ptr %d_x, i64 %column
  %1 = atomicrmw fadd ptr %in.column, float %v monotonic
  %of.row = getelementptr [16 x float], ptr %d_tile, i64 %row
  %2 = atomicrmw fadd ptr %of.row, float %v monotonic
  %of.column = getelementptr float, ptr %d_tile, i64 %column
  %3 = atomicrmw fadd ptr %of.column, float %v monotonic
  ret void
}

; Threads have their own elements, lanes are told apart, or what is read there is not known to be the same.
; CHECK-LABEL: define void @different(
; CHECK-COUNT-5: atomicrmw fadd
; CHECK-NOT:     call void @adgen_add
; CHECK:         ret void
define void @different(float %v, ptr %index, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %both = add i32 %x, %y
  %at.both = getelementptr float, ptr %d_x, i32 %both
  %1 = atomicrmw fadd ptr %at.both, float %v monotonic
  %at.lane = getelementptr float, ptr %d_x, i32 %lane
  %2 = atomicrmw fadd ptr %at.lane, float %v monotonic
  %from = getelementptr i32, ptr %index, i32 %x
  %i = load i32, ptr %from
  %at.i = getelementptr float, ptr %d_x, i32 %i
  %3 = atomicrmw fadd ptr %at.i, float %v monotonic
  %half = atomicrmw fadd ptr %d_x, float %v monotonic
  %sum = fadd float %half, %v
  %at.x = getelementptr float, ptr %d_x, i32 %x
  %4 = atomicrmw fadd ptr %at.x, float %sum monotonic
  ret void
}

; The number of a warp in its block, and an index read where the block says, are likely the same.
; CHECK-LABEL: define void @likely_the_same(
; CHECK:         call i32 @adgen_alike(i32 {{.*}}, i64
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK:         call i32 @adgen_alike(i32 {{.*}}, i64
; CHECK:         call void @adgen_add_warp_f32_1(
define void @likely_the_same(float %v, ptr %index, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %x, 5
  %at.warp = getelementptr float, ptr %d_x, i32 %warp
  %1 = atomicrmw fadd ptr %at.warp, float %v monotonic
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %from = getelementptr i32, ptr %index, i32 %block
  %i = load i32, ptr %from
  %at.i = getelementptr float, ptr %d_x, i32 %i
  %2 = atomicrmw fadd ptr %at.i, float %v monotonic
  ret void
}

; Lanes of one row of a matrix have the same number of it, whose length is known when the kernel runs.
; CHECK-LABEL: define void @rows_of_a_matrix(
; CHECK:         [[ROW:%.*]] = zext i32 %row to i64
; CHECK-NEXT:    call i32 @adgen_alike(i32 {{.*}}, i64 [[ROW]], i1 false)
; CHECK:         call void @adgen_add_warp_f32_1(
define void @rows_of_a_matrix(float %v, i32 %length, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = udiv i32 %x, %length
  %at = getelementptr float, ptr %d_x, i32 %row
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Of three numbers that may differ between lanes the address is compared; elements of one record are one constant away. A place that was computed
; on each of two ways in the same way is the same where they meet.
; CHECK-LABEL: define void @points_of_levels(
; CHECK:       loop:
; CHECK:         [[PLACE:%.*]] = ptrtoint ptr %at to i64
; CHECK-NEXT:    call i32 @adgen_alike(i32 {{.*}}, i64 [[PLACE]], i1 false)
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK:         call i32 @adgen_alike(i32 {{.*}}, i64 %weight, i1 false)
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK-NOT:     atomicrmw
; CHECK:       end:
define void @points_of_levels(float %v, i1 %inside, i64 %length, i64 %levels, i64 %points, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_w) "adgen-activity"="const:const:const:const" {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %lane to i64
  %row = udiv i64 %wide, %length
  br label %levels.loop
levels.loop:
  %level = phi i64 [ 0, %entry ], [ %level.next, %levels.end ]
  br label %loop
loop:
  %point = phi i64 [ 0, %levels.loop ], [ %next, %meet ]
  %of.row = mul i64 %row, %levels
  %of.level = add i64 %of.row, %level
  %of.point = mul i64 %of.level, %points
  %place = add i64 %of.point, %point
  %at = getelementptr [2 x float], ptr %d_x, i64 %place
  %beside = getelementptr i8, ptr %at, i64 4
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %beside, float %v monotonic
  br i1 %inside, label %yes, label %no
yes:
  %one = mul i64 %row, %points
  br label %meet
no:
  %other = mul i64 %row, %points
  br label %meet
meet:
  %weight = phi i64 [ %one, %yes ], [ %other, %no ]
  %w = getelementptr float, ptr %d_w, i64 %weight
  %3 = atomicrmw fadd ptr %w, float %v monotonic
  %next = add i64 %point, 1
  %done = icmp eq i64 %next, %points
  br i1 %done, label %levels.end, label %loop
levels.end:
  %level.next = add i64 %level, 1
  %last = icmp eq i64 %level.next, %levels
  br i1 %last, label %end, label %levels.loop
end:
  ret void
}

; Lanes that have left a loop at different iterations may still be in the same one of its reverse: that pays to find out
; in shared memory only.
; CHECK-LABEL: define void @counted_back(
; CHECK:         atomicrmw fadd ptr %at, float %v monotonic
; CHECK:         call i32 @adgen_alike(i32 {{.*}}, i64 %k, i1 true)
; CHECK:         call void @adgen_add_warp_f32_1(
define void @counted_back(float %v, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_tile, i64 %room, ptr %begin, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-activity"="active" "adgen-tape" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i64, ptr %begin, i32 %x
  %count = load i64, ptr %mine
  br label %loop
loop:
  %k = phi i64 [ %count, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %d_x, i64 %k
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %at.tile = getelementptr float, ptr %d_tile, i64 %k
  %2 = atomicrmw fadd ptr %at.tile, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %end, label %loop
end:
  ret void
}

; With a tape, the kernel walks over the grid: the block is an argument, and lanes may be in different ones.
; CHECK-LABEL: define void @in_a_block_of_the_walk(
; CHECK:         [[BLOCK:%.*]] = zext i32 %bx to i64
; CHECK-NEXT:    call i32 @adgen_alike(i32 {{.*}}, i64 [[BLOCK]], i1 false)
; CHECK:         call void @adgen_add_warp_f32_1(
define void @in_a_block_of_the_walk(float %v, ptr "adgen-shadow" %d_x, i64 %room, ptr %begin, i32 %bx, i32 %by, i32 %bz, i32 %nx, i32 %ny, i32 %nz) "adgen-activity"="active" "adgen-tape" {
  %at = getelementptr float, ptr %d_x, i32 %bx
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; A barrier, a reader of the shadow and the end of the block end what is handed over together.
; CHECK-LABEL: define void @kept_in_order(
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK:         %seen = load float
; CHECK:         call void @adgen_add_warp_f32_1(
define void @kept_in_order(float %v, i64 %i, ptr %tile, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %2 = atomicrmw fadd ptr %d_tile, float %v monotonic
  %at = getelementptr float, ptr %d_tile, i64 %i
  %seen = load float, ptr %at
  %3 = atomicrmw fadd ptr %d_tile, float %seen monotonic
  ret void
}

; Eleven are handed over as nine and two.
; CHECK-LABEL: define void @many(
; CHECK:         call void @adgen_add_warp_f32_9(
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @many(float %v, ptr "adgen-shadow" %d_a, ptr "adgen-shadow" %d_b) "adgen-activity"="active" {
  %at = getelementptr float, ptr %d_a, i64 1
  %1 = atomicrmw fadd ptr %d_a, float %v monotonic
  %2 = atomicrmw fadd ptr %d_b, float %v monotonic
  %3 = atomicrmw fadd ptr %at, float %v monotonic
  %4 = atomicrmw fadd ptr %d_a, float %v monotonic
  %5 = atomicrmw fadd ptr %d_b, float %v monotonic
  %6 = atomicrmw fadd ptr %at, float %v monotonic
  %7 = atomicrmw fadd ptr %d_a, float %v monotonic
  %8 = atomicrmw fadd ptr %d_a, float %v monotonic
  %9 = atomicrmw fadd ptr %d_b, float %v monotonic
  %10 = atomicrmw fadd ptr %at, float %v monotonic
  %11 = atomicrmw fadd ptr %d_a, float %v monotonic
  ret void
}

; A thread's own memory, a copy of a struct, other types, and functions that are no gradients.
; CHECK-LABEL: define void @own(
; CHECK-COUNT-3: atomicrmw fadd
; CHECK-LABEL: define void @no_gradient(
; CHECK-NEXT:    atomicrmw fadd
define void @own(float %v, half %h, ptr "adgen-struct"="16" %s, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const" {
  %local = alloca float
  %1 = atomicrmw fadd ptr %local, float %v monotonic
  %2 = atomicrmw fadd ptr %s, float %v monotonic
  %3 = atomicrmw fadd ptr %d_x, half %h monotonic
  ret void
}

define void @no_gradient(float %v, ptr "adgen-shadow" %d_x) {
  %1 = atomicrmw fadd ptr %d_x, float %v monotonic
  ret void
}

; A pointer that was read may be to a thread's own variable, where such addresses are kept.
; CHECK-LABEL: define void @through_a_pointer(
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK-LABEL: define void @through_a_pointer_of_its_own(
; CHECK:         atomicrmw fadd
define void @through_a_pointer(float %v, ptr "adgen-struct"="8" %s, ptr "adgen-struct"="8" %d_s) "adgen-activity"="const:duplicated" {
  %p = load ptr, ptr %d_s
  %1 = atomicrmw fadd ptr %p, float %v monotonic
  ret void
}

define void @through_a_pointer_of_its_own(float %v, ptr "adgen-struct"="8" %s, ptr "adgen-struct"="8" %d_s) "adgen-activity"="const:duplicated" {
  %own = alloca float
  store ptr %own, ptr %d_s
  %p = load ptr, ptr %d_s
  %1 = atomicrmw fadd ptr %p, float %v monotonic
  ret void
}


; Row y adds to 8 rows of 64 floats, at 4 y to 4 y + 3: 16 rows fit before they come to the next ones. Then a row is the only one to add
; there, and no other warp has a part of it where the width divides a warp's.
; CHECK-LABEL: define void @rows_of_their_own(
; CHECK:         [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK-NEXT:    [[Y:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
; CHECK-NEXT:    [[Z:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
; CHECK-NEXT:    [[LESS:%.*]] = sub i32 [[X]], 1
; CHECK-NEXT:    [[BITS:%.*]] = and i32 [[X]], [[LESS]]
; CHECK-NEXT:    [[POWER:%.*]] = icmp eq i32 [[BITS]], 0
; CHECK-NEXT:    [[NARROW:%.*]] = icmp ule i32 [[X]], 32
; CHECK-NEXT:    [[LOW:%.*]] = icmp ule i32 [[Y]], 16
; CHECK-NEXT:    [[FITS:%.*]] = and i1 [[NARROW]], [[LOW]]
; CHECK-NEXT:    [[BOTH:%.*]] = and i1 [[POWER]], [[FITS]]
; CHECK-NEXT:    [[FLAT:%.*]] = icmp eq i32 [[Z]], 1
; CHECK-NEXT:    %alone = and i1 [[BOTH]], [[FLAT]]
; CHECK:         call void @adgen_add_row_f32_2(ptr {{.*}}, ptr {{.*}}, i32 {{.*}}, i32 {{.*}}, i1 %alone)
define void @rows_of_their_own(float %v, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %four = shl i32 %y, 2
  br label %loop
loop:
  %k = phi i64 [ 7, %entry ], [ %next, %loop ]
  %row = getelementptr [64 x float], ptr %d_tile, i64 %k
  %first = getelementptr float, ptr %row, i32 %four
  %last = getelementptr i8, ptr %first, i64 12
  %1 = atomicrmw fadd ptr %first, float %v monotonic
  %2 = atomicrmw fadd ptr %last, float %v monotonic
  %next = add i64 %k, -1
  %done = icmp eq i64 %k, 0
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Another accumulation is to whatever element; rows that follow each other share elements whatever the block's height is.
; CHECK-LABEL: define void @also_elsewhere(
; CHECK:         call void @adgen_add_row_f32_1(ptr {{.*}}, ptr {{.*}}, i32 {{.*}}, i32 {{.*}}, i1 false)
; CHECK-LABEL: define void @rows_overlap(
; CHECK:         icmp ule i32 %{{.*}}, 1
; CHECK:         call void @adgen_add_row_f32_2(
define void @also_elsewhere(float %v, i32 %any, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr float, ptr %d_tile, i32 %y
  %1 = atomicrmw fadd ptr %mine, float %v monotonic
  %there = mul i32 %x, %any
  %other = getelementptr float, ptr %d_tile, i32 %there
  %2 = atomicrmw fadd ptr %other, float %v monotonic
  ret void
}
define void @rows_overlap(float %v, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %mine = getelementptr float, ptr %d_tile, i32 %y
  %beside = getelementptr i8, ptr %mine, i64 4
  %1 = atomicrmw fadd ptr %mine, float %v monotonic
  %2 = atomicrmw fadd ptr %beside, float %v monotonic
  ret void
}

; Nor of a vector, which lies at a multiple of its size: the next lane's begins behind it.
; CHECK-LABEL: define void @of_vector(
; CHECK-NOT:     @adgen_beside
; CHECK:         ret void
define void @of_vector(float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %x to i64
  %own = getelementptr <4 x float>, ptr %d_x, i64 %i
  %next = getelementptr i8, ptr %own, i64 4
  %1 = atomicrmw fadd ptr %own, float %v monotonic, align 16
  %2 = atomicrmw fadd ptr %next, float %v monotonic, align 4
  ret void
}

; A thread works out its row in a tile itself: the halves of a warp, or its quarters, have elements of shared memory in common.
; CHECK-LABEL: define void @parts_of_a_warp(
; CHECK:         [[HALF:%.*]] = zext i32 %half to i64
; CHECK-NEXT:    call i32 @adgen_alike_by(i32 {{.*}}, i64 [[HALF]], i32 16)
; CHECK:         call void @adgen_add_half_f32_2(
; CHECK:         [[QUARTER:%.*]] = zext i32 %quarter to i64
; CHECK-NEXT:    call i32 @adgen_alike_by(i32 {{.*}}, i64 [[QUARTER]], i32 8)
; CHECK:         call void @adgen_add_quarter_f32_1(
; Where few lanes have one in common, and in other memory, the additions stay.
; CHECK:         atomicrmw fadd ptr %at.pair
; CHECK:         atomicrmw fadd ptr %at.x
define void @parts_of_a_warp(float %v, ptr %tile, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const:active" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %half = lshr i32 %t, 4
  %fourth = lshr i32 %t, 1
  %quarter = and i32 %fourth, 60
  %pair = lshr i32 %t, 1
  %at.half = getelementptr float, ptr %d_tile, i32 %half
  %1 = atomicrmw fadd ptr %at.half, float %v monotonic
  %beside = getelementptr float, ptr %at.half, i32 65
  %2 = atomicrmw fadd ptr %beside, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at.quarter = getelementptr float, ptr %d_tile, i32 %quarter
  %3 = atomicrmw fadd ptr %at.quarter, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %at.pair = getelementptr float, ptr %d_tile, i32 %pair
  %4 = atomicrmw fadd ptr %at.pair, float %v monotonic
  %at.x = getelementptr float, ptr %d_x, i32 %half
  %5 = atomicrmw fadd ptr %at.x, float %v monotonic
  ret void
}

; Lanes of a column compare what else they add by only where a column has several of a warp's lanes.
; CHECK-LABEL: define void @compares_columns(
; CHECK:         [[K:%.*]] = zext i32 %k to i64
; CHECK-NEXT:    call i32 @adgen_alike_in_column(i32 {{.*}}, i64 [[K]])
; CHECK:         call void @adgen_add_column_f32_1(
define void @compares_columns(float %v, i1 %again, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %k, 1
  %row = mul i32 %k, 64
  %place = add i32 %row, %x
  %at = getelementptr float, ptr %d_tile, i32 %place
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  br i1 %again, label %loop, label %end
end:
  ret void
}

; What goes round in a loop is no part of the thread's index.
; CHECK-LABEL: define void @goes_round(
; CHECK:         atomicrmw fadd
define void @goes_round(float %v, i1 %again, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %next, %loop ], [ 0, %entry ]
  %next = add i32 %k, %t
  %place = lshr i32 %k, 4
  %at = getelementptr float, ptr %d_tile, i32 %place
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  br i1 %again, label %loop, label %end
end:
  ret void
}

; Nobody else adds to elements of shared memory where the block is one warp: none of them is there twice.
; CHECK-LABEL: define void @one_warp(
; CHECK:         call void @adgen_add_warp_f32_2({{.*}}, i1 true)
; CHECK:         call void @adgen_add_warp_f32_2({{.*}}, i1 false)
define void @one_warp(float %v, i32 %i, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" "nvvm.maxntid"="32" {
  %at = getelementptr float, ptr %d_tile, i32 %i
  %beside = getelementptr i8, ptr %at, i64 4
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %2 = atomicrmw fadd ptr %beside, float %v monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %3 = atomicrmw fadd ptr %at, float %v monotonic
  %4 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Where neighbours are kept in the row, lanes whose neighbour is kept elsewhere add there by themselves. Numbers of
; structs lie a struct apart.
; CHECK-LABEL: define void @kept_in_the_row(
; CHECK:         [[BESIDE:%.*]] = call {{.*}}i32 @adgen_beside(i32 {{.*}}, ptr %own, i64 16)
; CHECK-NEXT:    [[THERE:%.*]] = getelementptr i8, ptr %own, i64 -16
; CHECK-NEXT:    [[ELSE:%.*]] = icmp ne ptr %left, [[THERE]]
; CHECK-NEXT:    br i1 [[ELSE]]
; CHECK:         atomicrmw fadd ptr %left, float %v monotonic{{.*}}, !adgen.seldom
; CHECK:         [[GIVEN:%.*]] = select {{.*}}i1 [[ELSE]], float 0.000000e+00, float %v
; CHECK-NEXT:    call {{.*}}float @adgen_hand_on_f32(i32 {{.*}}, i32 [[BESIDE]], i32 -1, ptr %left, float [[GIVEN]])
; CHECK:         getelementptr i8, ptr %own, i64 16
; CHECK:         call {{.*}}float @adgen_hand_on_f32(i32 {{.*}}, i32 [[BESIDE]], i32 1, ptr %right,
; CHECK:         atomicrmw fadd ptr %own, float
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @kept_in_the_row(float %v, i32 %w, ptr "adgen-shadow" %d_row) "adgen-activity"="const:const:duplicated" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %last = add nsw i32 %w, -1
  %before = call i32 @llvm.smax.i32(i32 %x, i32 1)
  %l = add nsw i32 %before, -1
  %behind = add nsw i32 %x, 1
  %r = call i32 @llvm.smin.i32(i32 %behind, i32 %last)
  %li = sext i32 %l to i64
  %xi = sext i32 %x to i64
  %ri = sext i32 %r to i64
  %left = getelementptr [4 x float], ptr %d_row, i64 %li
  %own = getelementptr [4 x float], ptr %d_row, i64 %xi
  %right = getelementptr [4 x float], ptr %d_row, i64 %ri
  %1 = atomicrmw fadd ptr %left, float %v monotonic
  %2 = atomicrmw fadd ptr %own, float %v monotonic
  %3 = atomicrmw fadd ptr %right, float %v monotonic
  ret void
}

; Not in shared memory.
; CHECK-LABEL: define void @kept_in_a_tile(
; CHECK-NOT:     adgen_beside
; CHECK:         ret void
define void @kept_in_a_tile(float %v, i32 %w, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %behind = add nsw i32 %x, 1
  %r = call i32 @llvm.smin.i32(i32 %behind, i32 %w)
  %own = getelementptr float, ptr %d_tile, i32 %x
  %right = getelementptr float, ptr %d_tile, i32 %r
  %1 = atomicrmw fadd ptr %own, float %v monotonic
  %2 = atomicrmw fadd ptr %right, float %v monotonic
  ret void
}

; CHECK: attributes #[[CONVERGENT]] = { convergent }

!0 = !{}
