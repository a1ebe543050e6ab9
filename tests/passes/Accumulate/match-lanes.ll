; Lanes that have each chosen one of a few places add up what they add there.
;
; RUN: %opt -passes=adgen-match-lanes -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A lane has one of three rows. What is added to one row is handed over together, at the last one's place.
; CHECK-LABEL: define void @one_of_three(
; CHECK:       loop:
; CHECK-NOT:     atomicrmw
; CHECK:         [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[PLACE:%.*]] = ptrtoint ptr %at to i64
; CHECK-NEXT:    [[ALIKE:%.*]] = call i32 @adgen_alike(i32 [[ACTIVE]], i64 [[PLACE]], i1 true)
; CHECK:         call void @adgen_add_warp_f64_2(ptr {{.*}}, ptr {{.*}}, i32 [[ACTIVE]], i32 [[ALIKE]], i1 false)
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @one_of_three(float %f, double %v, i64 %n, ptr %d_tables) "adgen-activity"="const:const:const:duplicated" {
entry:
  %d_x = load ptr, ptr %d_tables
  %low = fcmp olt float %f, 0.0
  br i1 %low, label %chosen, label %second
second:
  %high = fcmp ogt float %f, 1.0
  br i1 %high, label %chosen, label %third
third:
  br label %chosen
chosen:
  %row = phi i64 [ 0, %entry ], [ 1, %second ], [ 2, %third ]
  %start = mul i64 %row, %n
  br label %loop
loop:
  %k = phi i64 [ 0, %chosen ], [ %next, %loop ]
  %place = add i64 %start, %k
  %at = getelementptr double, ptr %d_x, i64 %place
  %1 = atomicrmw fadd ptr %at, double %v monotonic
  %beside = getelementptr i8, ptr %at, i64 8
  %2 = atomicrmw fadd ptr %beside, double %v monotonic
  %next = add i64 %k, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Where a loop of twelve was left, and what is read there.
; CHECK-LABEL: define void @left_early(
; CHECK:         call i32 @adgen_alike(i32 {{.*}}, i64 {{.*}}, i1 true)
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @left_early(float %f, ptr %bounds, ptr %members, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %further ]
  %from = getelementptr float, ptr %bounds, i32 %k
  %bound = load float, ptr %from
  %below = fcmp olt float %f, %bound
  br i1 %below, label %left, label %further
further:
  %next = add i32 %k, 1
  %done = icmp eq i32 %next, 12
  br i1 %done, label %left, label %loop
left:
  %class = phi i32 [ %k, %loop ], [ 0, %further ]
  %member = getelementptr i32, ptr %members, i32 %class
  %place = load i32, ptr %member
  %at = getelementptr float, ptr %d_x, i32 %place
  %1 = atomicrmw fadd ptr %at, float %f monotonic
  ret void
}

; Not where places are many, nor where they are of a thread's own variable, nor where they are the same for all, which
; another pass sees.
; CHECK-LABEL: define void @others(
; CHECK-COUNT-4: atomicrmw fadd
; CHECK-NOT:     call void @adgen_add
; CHECK:         ret void
define void @others(i1 %c, i64 %n, float %v, ptr %index, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:const:duplicated" {
entry:
  %own = alloca [2 x float]
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %clamped = select i1 %c, i32 %x, i32 0
  %at.x = getelementptr float, ptr %d_x, i32 %clamped
  %1 = atomicrmw fadd ptr %at.x, float %v monotonic
  %bit = select i1 %c, i64 0, i64 1
  %at.own = getelementptr float, ptr %own, i64 %bit
  %2 = atomicrmw fadd ptr %at.own, float %v monotonic
  %at.n = getelementptr float, ptr %d_x, i64 %n
  %3 = atomicrmw fadd ptr %at.n, float %v monotonic
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add i64 %k, 1
  %from = getelementptr float, ptr %index, i64 %k
  %bound = load float, ptr %from
  %done = fcmp olt float %bound, %v
  br i1 %done, label %end, label %loop
end:
  %at.k = getelementptr float, ptr %d_x, i64 %k
  %4 = atomicrmw fadd ptr %at.k, float %v monotonic
  ret void
}

; Lanes that choose in every iteration of a loop have many places in the end; that they have few in common steps stays.
; CHECK-LABEL: define void @random(
; CHECK:         call i32 @adgen_alike(
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK:         atomicrmw fadd ptr %at.state
; CHECK-NOT:     call void @adgen_add
; CHECK:         ret void
define void @random(i1 %c, i64 %n, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
entry:
  %row = select i1 %c, i64 0, i64 1
  br label %loop
loop:
  %state = phi i64 [ 1, %entry ], [ %more, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = phi i64 [ %row, %entry ], [ %behind, %loop ]
  %at.place = getelementptr float, ptr %d_x, i64 %place
  %1 = atomicrmw fadd ptr %at.place, float %v monotonic
  %id = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %id to i1
  %factor = select i1 %odd, i64 3, i64 1
  %more = mul i64 %state, %factor
  %behind = add i64 %place, %n
  %next = add i64 %k, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  %at.state = getelementptr float, ptr %d_x, i64 %more
  %2 = atomicrmw fadd ptr %at.state, float %v monotonic
  ret void
}

; A constant is the same in all lanes.
; CHECK-LABEL: define void @adgen_gradient_constant(
; CHECK-NOT:     match.all
; CHECK:         insertvalue { i32, i1 } {{.*}}, i1 true, 1
define void @adgen_gradient_constant(ptr %y, i32 %mask) "adgen-activity"="const:const" {
  %both = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %mask, i32 8)
  %same = extractvalue { i32, i1 } %both, 1
  store i1 %same, ptr %y
  ret void
}
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)

; A filter in shared memory has twelve elements; of a tile every lane may have its own.
; CHECK-LABEL: define void @filter(
; CHECK:         call i32 @adgen_alike(
; CHECK:         call void @adgen_add_warp_f32_2(
; CHECK:         atomicrmw fadd ptr %in_tile
; CHECK:         ret void
@taps = internal addrspace(3) global [12 x float] undef
@tile = internal addrspace(3) global [256 x float] undef
define void @filter(i64 %tap, float %v, ptr %0, ptr %1, ptr "adgen-shared-shadow"="static" %d_taps, ptr "adgen-shared-shadow"="static" %d_tile) "adgen-activity"="const:const" "adgen-shared"="taps:tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = zext i32 %x to i64
  %mine = add i64 %lane, %tap
  %in_taps = getelementptr float, ptr %d_taps, i64 %mine
  %3 = atomicrmw fadd ptr %in_taps, float %v monotonic
  %beside = getelementptr i8, ptr %in_taps, i64 4
  %4 = atomicrmw fadd ptr %beside, float %v monotonic
  %in_tile = getelementptr float, ptr %d_tile, i64 %mine
  %5 = atomicrmw fadd ptr %in_tile, float %v monotonic
  ret void
}
