; Lanes that add where they have looked up ask whether others have come to the same place.
;
; RUN: %opt -passes=adgen-compare-lanes,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; What is added behind one place is handed over together where it pays, at the last one's place, and added alone
; elsewhere.
; CHECK-LABEL: define void @camera(
; CHECK-NOT:     atomicrmw
; CHECK:         [[PLACE:%.*]] = ptrtoint ptr %at to i64
; CHECK-NEXT:    [[ACTIVE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[MEET:%.*]] = call i1 @adgen_meet_by_chance(i32 [[ACTIVE]], i64 [[PLACE]])
; CHECK-NEXT:    br i1 [[MEET]], label %[[ASK:.*]], label %[[ALONE:.*]]
; CHECK:       [[ASK]]:
; CHECK-NEXT:    [[HERE:%.*]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT:    [[ALIKE:%.*]] = call i32 @adgen_alike_by_chance(i32 [[HERE]], i64 [[PLACE]])
; CHECK-NEXT:    [[PAYS:%.*]] = icmp ne i32 [[ALIKE]], 0
; CHECK-NEXT:    br i1 [[PAYS]], label %[[TOGETHER:.*]], label %[[ALONE]]
; CHECK:       [[ALONE]]:
; CHECK-NEXT:    atomicrmw fadd ptr %at, float %v monotonic
; CHECK-NEXT:    atomicrmw fadd ptr %beside, float %w monotonic
; CHECK-NEXT:    br label %[[BEHIND:.*]]
; CHECK:       [[TOGETHER]]:
; CHECK-NOT:     atomicrmw
; CHECK:         call void @adgen_add_warp_f32_2(ptr {{.*}}, ptr {{.*}}, i32 [[HERE]], i32 [[ALIKE]], i1 false)
; CHECK-NEXT:    br label %[[BEHIND]]
; CHECK:       [[BEHIND]]:
; CHECK-NEXT:    ret void
define void @camera(ptr %of, i32 %i, float %v, float %w, ptr "adgen-shadow" %d_cameras) "adgen-activity"="const:const:const:const:duplicated" {
  %from = getelementptr i32, ptr %of, i32 %i
  %camera = load i32, ptr %from
  %at = getelementptr [9 x float], ptr %d_cameras, i32 %camera
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %beside = getelementptr i8, ptr %at, i64 4
  %2 = atomicrmw fadd ptr %beside, float %w monotonic
  ret void
}

; Channels of a row that was looked up lie side by side, and belong to lanes side by side.
; CHECK-LABEL: define void @channels(
; CHECK-NOT:     call i1 @adgen_meet_by_chance
; CHECK:         atomicrmw fadd ptr %at, float %v monotonic
; CHECK:         ret void
define void @channels(ptr %of, i32 %c, float %v, ptr "adgen-shadow" %d_rows) "adgen-activity"="const:const:const:duplicated" {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = udiv i32 %lane, %c
  %from = getelementptr i32, ptr %of, i32 %i
  %row = load i32, ptr %from
  %channel = urem i32 %lane, %c
  %begin = mul i32 %row, %c
  %place = add i32 %begin, %channel
  %at = getelementptr float, ptr %d_rows, i32 %place
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  ret void
}

; Two places of one block: one question; three additions of a loop.
; CHECK-LABEL: define void @edges(
; CHECK:         call i1 @adgen_meet_by_chance(
; CHECK-COUNT-2: call i32 @adgen_alike_by_chance(
; CHECK-NOT:     @adgen_meet_by_chance
; CHECK:         ret void
define void @edges(ptr %of, i32 %n, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr [2 x i32], ptr %of, i32 %i
  %a = load i32, ptr %from
  %behind = getelementptr i8, ptr %from, i64 4
  %b = load i32, ptr %behind
  %at.a = getelementptr [2 x float], ptr %d_x, i32 %a
  %at.b = getelementptr [2 x float], ptr %d_x, i32 %b
  %1 = atomicrmw fadd ptr %at.a, float %v monotonic
  %2 = atomicrmw fadd ptr %at.b, float %v monotonic
  %beside = getelementptr i8, ptr %at.a, i64 4
  %3 = atomicrmw fadd ptr %beside, float %v monotonic
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; One addition of a loop does not repay the question.
; CHECK-LABEL: define void @row(
; CHECK-NOT:     call i1 @adgen_meet_by_chance(
; CHECK:         ret void
define void @row(ptr %of, i32 %n, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr i32, ptr %of, i32 %i
  %a = load i32, ptr %from
  %at = getelementptr float, ptr %d_x, i32 %a
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Two features are added to at once.
; CHECK-LABEL: define void @features(
; CHECK-NOT:     call i1 @adgen_meet_by_chance(
; CHECK:         ret void
define void @features(ptr %of, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:duplicated" {
  %i = load i32, ptr %of
  %even = shl i32 %i, 1
  %odd = or disjoint i32 %even, 1
  %wide = zext i32 %odd to i64
  %first = getelementptr float, ptr %d_x, i32 %even
  %second = getelementptr float, ptr %d_x, i64 %wide
  %1 = atomicrmw fadd ptr %first, float %v monotonic
  %2 = atomicrmw fadd ptr %second, float %v monotonic
  ret void
}

; A texel, by a pointer in a struct.
; CHECK-LABEL: define void @texel(
; CHECK:         call i32 @adgen_alike_by_chance(
; CHECK:         call void @adgen_add_warp_f64_1(
; CHECK:         ret void
define void @texel(float %u, double %v, ptr "adgen-shadow" %d_textures) "adgen-activity"="const:const:duplicated" {
  %d_texels = load ptr, ptr %d_textures
  %texel = fptosi float %u to i32
  %at = getelementptr double, ptr %d_texels, i32 %texel
  %1 = atomicrmw fadd ptr %at, double %v monotonic
  ret void
}

; Not what follows from the thread's index alone, nor what a load in between may see, nor halves.
; CHECK-LABEL: define void @own(
; CHECK-NOT:     call i32 @adgen_alike_by_chance(
; CHECK:         ret void
define void @own(ptr %of, half %h, float %v, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_h) "adgen-activity"="const:const:const:duplicated:duplicated" {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr float, ptr %d_x, i32 %i
  %1 = atomicrmw fadd ptr %own, float %v monotonic
  %from = getelementptr i32, ptr %of, i32 %i
  %j = load i32, ptr %from
  %other = getelementptr half, ptr %d_h, i32 %j
  %2 = atomicrmw fadd ptr %other, half %h monotonic
  ret void
}

; What lies between two of them is met by the first alone.
; CHECK-LABEL: define void @met(
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK:         %seen = load float, ptr %at
; CHECK:         call void @adgen_add_warp_f32_1(
; CHECK:         ret void
define void @met(i32 %i, ptr %of, float %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
  %from = getelementptr i32, ptr %of, i32 %i
  %j = load i32, ptr %from
  %at = getelementptr float, ptr %d_x, i32 %j
  %1 = atomicrmw fadd ptr %at, float %v monotonic
  %seen = load float, ptr %at
  %beside = getelementptr i8, ptr %at, i64 4
  %2 = atomicrmw fadd ptr %beside, float %seen monotonic
  ret void
}

; A record of 96 bytes is for a bulk reduction, and so is what else is added to its array.
; CHECK-LABEL: define void @record(
; CHECK-NOT:     call i32 @adgen_alike_by_chance(
; CHECK:         ret void
define void @record(i32 %i, ptr %of, double %v, ptr "adgen-shadow" %d_x) "adgen-activity"="const:const:const:duplicated" {
  %from = getelementptr i32, ptr %of, i32 %i
  %j = load i32, ptr %from
  %k = load i32, ptr %of
  %at = getelementptr [12 x double], ptr %d_x, i32 %j
  %p1 = getelementptr i8, ptr %at, i64 8
  %p2 = getelementptr i8, ptr %at, i64 16
  %p3 = getelementptr i8, ptr %at, i64 24
  %p4 = getelementptr i8, ptr %at, i64 32
  %p5 = getelementptr i8, ptr %at, i64 40
  %p6 = getelementptr i8, ptr %at, i64 48
  %p7 = getelementptr i8, ptr %at, i64 56
  %p8 = getelementptr i8, ptr %at, i64 64
  %p9 = getelementptr i8, ptr %at, i64 72
  %p10 = getelementptr i8, ptr %at, i64 80
  %p11 = getelementptr i8, ptr %at, i64 88
  %1 = atomicrmw fadd ptr %at, double %v monotonic
  %2 = atomicrmw fadd ptr %p1, double %v monotonic
  %3 = atomicrmw fadd ptr %p2, double %v monotonic
  %4 = atomicrmw fadd ptr %p3, double %v monotonic
  %5 = atomicrmw fadd ptr %p4, double %v monotonic
  %6 = atomicrmw fadd ptr %p5, double %v monotonic
  %7 = atomicrmw fadd ptr %p6, double %v monotonic
  %8 = atomicrmw fadd ptr %p7, double %v monotonic
  %9 = atomicrmw fadd ptr %p8, double %v monotonic
  %10 = atomicrmw fadd ptr %p9, double %v monotonic
  %11 = atomicrmw fadd ptr %p10, double %v monotonic
  %12 = atomicrmw fadd ptr %p11, double %v monotonic
  %elsewhere = getelementptr double, ptr %d_x, i32 %k
  %13 = atomicrmw fadd ptr %elsewhere, double %v monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
