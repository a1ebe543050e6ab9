; Neighbouring numbers that fill a piece of 16 bytes are added at once, unless all are zero: four floats, or eight of 16
; bits; and two floats that fill one of 8 bytes.
;
; RUN: %opt -passes=adgen-bulk-reduce-atomics -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

%half = type { half }

; CHECK-LABEL: define void @adgen_gradient_four(
; CHECK:         atomicrmw fadd ptr %fifth
; CHECK:         fcmp une float %a, 0.000000e+00
; CHECK:         fcmp une float %c, 0.000000e+00
; CHECK:         br i1 {{.*}}, label %[[SOME:.*]], label %[[NONE:[0-9]+]]
; CHECK:       [[SOME]]:
; CHECK-NEXT:    [[AT:%.*]] = ptrtoint ptr %row to i64
; CHECK-NEXT:    [[LOW:%.*]] = and i64 [[AT]], 15
; CHECK-NEXT:    [[WHOLE:%.*]] = icmp eq i64 [[LOW]], 0
; CHECK-NEXT:    br i1 [[WHOLE]], label %[[ONCE:.*]], label %[[EACH:[0-9]+]]
; CHECK:       [[ONCE]]:
; CHECK:         call void asm sideeffect "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) {{.*}}, float %a, float %b, float %a, float %c)
; CHECK:       [[EACH]]:
; CHECK-COUNT-4: atomicrmw fadd
; CHECK:       [[NONE]]:
; CHECK-NEXT:    ret void
define void @adgen_gradient_four(ptr %x, i64 %i, float %a, float %b, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %row = getelementptr float, ptr %dx, i64 %i
  %fifth = getelementptr i8, ptr %row, i64 16
  %add5 = atomicrmw fadd ptr %fifth, float %a monotonic
  %third = getelementptr i8, ptr %row, i64 8
  %add3 = atomicrmw fadd ptr %third, float %a monotonic
  %add1 = atomicrmw fadd ptr %row, float %a monotonic
  %second = getelementptr i8, ptr %row, i64 4
  %add2 = atomicrmw fadd ptr %second, float %b monotonic
  %c = fadd float %a, %b
  %last = getelementptr i8, ptr %row, i64 12
  %add4 = atomicrmw fadd ptr %last, float %c monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_eight(
; CHECK:         [[A:%.*]] = bitcast half %a to i16
; CHECK:         call void asm sideeffect "red.global.add.noftz.v8.f16 [$0], {$1, $2, $3, $4, $5, $6, $7, $8};", "l,h,h,h,h,h,h,h,h,~{memory}"(ptr addrspace(1) {{.*}}, i16 [[A]],
; CHECK-COUNT-8: atomicrmw fadd
; CHECK-NOT:     asm
; CHECK:         atomicrmw fadd ptr %d, bfloat
; CHECK:         ret void
define void @adgen_gradient_eight(ptr %x, half %a, bfloat %b, ptr "adgen-shadow" %d) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %p1 = getelementptr i8, ptr %d, i64 2
  %p2 = getelementptr i8, ptr %d, i64 4
  %p3 = getelementptr i8, ptr %d, i64 6
  %p4 = getelementptr i8, ptr %d, i64 8
  %p5 = getelementptr i8, ptr %d, i64 10
  %p6 = getelementptr i8, ptr %d, i64 12
  %p7 = getelementptr i8, ptr %d, i64 14
  %1 = atomicrmw fadd ptr %p7, half %a monotonic
  %2 = atomicrmw fadd ptr %p6, half %a monotonic
  %3 = atomicrmw fadd ptr %p5, half %a monotonic
  %4 = atomicrmw fadd ptr %p4, half %a monotonic
  %5 = atomicrmw fadd ptr %p3, half %a monotonic
  %6 = atomicrmw fadd ptr %p2, half %a monotonic
  %7 = atomicrmw fadd ptr %p1, half %a monotonic
  %8 = atomicrmw fadd ptr %d, half %a monotonic
  %9 = atomicrmw fadd ptr %d, bfloat %b monotonic
  ret void
}

; Two floats whose indices say that they lie in one piece of 8 bytes if the array begins with one.
; CHECK-LABEL: define void @adgen_gradient_pair(
; CHECK:         [[LOW:%.*]] = and i64 {{.*}}, 7
; CHECK-NEXT:    [[WHOLE:%.*]] = icmp eq i64 [[LOW]], 0
; CHECK-NEXT:    br i1 [[WHOLE]], label %[[ONCE:.*]], label %[[EACH:[0-9]+]]
; CHECK:       [[ONCE]]:
; CHECK:         call void asm sideeffect "red.global.add.v2.f32 [$0], {$1, $2};", "l,f,f,~{memory}"(ptr addrspace(1) {{.*}}, float %a, float %b)
; CHECK:       [[EACH]]:
; CHECK-COUNT-2: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_pair(ptr %x, i32 %i, float %a, float %b, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %even = shl i32 %i, 1
  %odd = or disjoint i32 %even, 1
  %even.wide = zext i32 %even to i64
  %odd.wide = zext i32 %odd to i64
  %first = getelementptr float, ptr %dx, i64 %even.wide
  %second = getelementptr float, ptr %dx, i64 %odd.wide
  %add1 = atomicrmw fadd ptr %first, float %a monotonic
  %add2 = atomicrmw fadd ptr %second, float %b monotonic
  ret void
}

; Two halves in one piece of 4 bytes, whose index was kept where it is defined.
; CHECK-LABEL: define void @adgen_gradient_halves(
; CHECK:         red.global.add.noftz.v2.f16 [$0], {$1, $2};
; CHECK-COUNT-2: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_halves(ptr %x, i32 %i, half %a, half %b, i1 %kept, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const:const:const" "adgen-shared" {
  %even = shl i32 %i, 1
  br i1 %kept, label %back, label %elsewhere
elsewhere:
  br label %back
back:
  %index = phi i32 [ %even, %0 ], [ undef, %elsewhere ]
  %odd = or disjoint i32 %index, 1
  %even.wide = zext i32 %index to i64
  %odd.wide = zext i32 %odd to i64
  %first = getelementptr %half, ptr %dx, i64 %even.wide
  %second = getelementptr %half, ptr %dx, i64 %odd.wide
  %add1 = atomicrmw fadd ptr %first, half %a monotonic
  %add2 = atomicrmw fadd ptr %second, half %b monotonic
  ret void
}

; Of three the two that do.
; CHECK-LABEL: define void @adgen_gradient_point(
; CHECK:         atomicrmw fadd ptr %y, float %a
; CHECK:         [[PAIR:%.*]] = addrspacecast ptr %z to ptr addrspace(1)
; CHECK:         red.global.add.v2.f32{{.*}}(ptr addrspace(1) [[PAIR]], float %b, float %c)
; CHECK-COUNT-2: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @adgen_gradient_point(ptr %x, i64 %i, float %a, float %b, float %c, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const:const:const" "adgen-shared" {
  %row = getelementptr [4 x float], ptr %dx, i64 %i
  %y = getelementptr i8, ptr %row, i64 4
  %z = getelementptr i8, ptr %row, i64 8
  %w = getelementptr i8, ptr %row, i64 12
  %add1 = atomicrmw fadd ptr %y, float %a monotonic
  %add2 = atomicrmw fadd ptr %z, float %b monotonic
  %add3 = atomicrmw fadd ptr %w, float %c monotonic
  ret void
}

; Not where some lanes have such a piece and others do not.
; CHECK-LABEL: define void @adgen_gradient_anywhere(
; CHECK-NOT:     asm
; CHECK:         ret void
define void @adgen_gradient_anywhere(ptr %x, i64 %i, float %a, float %b, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %first = getelementptr float, ptr %dx, i64 %i
  %second = getelementptr i8, ptr %first, i64 4
  %add1 = atomicrmw fadd ptr %first, float %a monotonic
  %add2 = atomicrmw fadd ptr %second, float %b monotonic
  ret void
}

; Not with a gap, nor doubles, nor where the shadow is read in between.
; CHECK-LABEL: define void @adgen_gradient_not(
; CHECK-NOT:     asm
; CHECK:         ret void
define void @adgen_gradient_not(ptr %x, ptr %y, float %a, double %d, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dy) "adgen-activity"="duplicated:duplicated:const:const" "adgen-shared" {
  %third = getelementptr i8, ptr %dx, i64 8
  %double = getelementptr i8, ptr %dx, i64 16
  %last = getelementptr i8, ptr %dx, i64 24
  %add1 = atomicrmw fadd ptr %dx, float %a monotonic
  %add3 = atomicrmw fadd ptr %third, float %a monotonic
  %add4 = atomicrmw fadd ptr %double, double %d monotonic
  %add5 = atomicrmw fadd ptr %last, double %d monotonic
  %y.2 = getelementptr i8, ptr %dy, i64 4
  %add6 = atomicrmw fadd ptr %dy, float %a monotonic
  %v = load float, ptr %dy
  %add7 = atomicrmw fadd ptr %y.2, float %a monotonic
  store float %v, ptr %x
  ret void
}

; Two vectors whose numbers come in turn.
; CHECK-LABEL: define void @adgen_gradient_in_turn(
; CHECK-COUNT-2: call void asm sideeffect "red.global.add.v4.f32
; CHECK:         ret void
define void @adgen_gradient_in_turn(ptr %x, ptr %z, float %a, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dz) "adgen-activity"="duplicated:duplicated:const" "adgen-shared" {
  %x0 = getelementptr i8, ptr %dx, i64 0
  %addx0 = atomicrmw fadd ptr %x0, float %a monotonic
  %z0 = getelementptr i8, ptr %dz, i64 0
  %addz0 = atomicrmw fadd ptr %z0, float %a monotonic
  %x1 = getelementptr i8, ptr %dx, i64 4
  %addx1 = atomicrmw fadd ptr %x1, float %a monotonic
  %z1 = getelementptr i8, ptr %dz, i64 4
  %addz1 = atomicrmw fadd ptr %z1, float %a monotonic
  %x2 = getelementptr i8, ptr %dx, i64 8
  %addx2 = atomicrmw fadd ptr %x2, float %a monotonic
  %z2 = getelementptr i8, ptr %dz, i64 8
  %addz2 = atomicrmw fadd ptr %z2, float %a monotonic
  %x3 = getelementptr i8, ptr %dx, i64 12
  %addx3 = atomicrmw fadd ptr %x3, float %a monotonic
  %z3 = getelementptr i8, ptr %dz, i64 12
  %addz3 = atomicrmw fadd ptr %z3, float %a monotonic
  ret void
}

; But where it is read, or added to by a call, before or behind.
; CHECK-LABEL: define void @adgen_gradient_also_read(
; CHECK:         call void asm sideeffect "red.global.add.v4.f32
; CHECK:         ret void
define void @adgen_gradient_also_read(ptr %x, float %a, ptr "adgen-shadow" %dx) "adgen-activity"="duplicated:const" "adgen-shared" {
  %v = load float, ptr %dx
  %second = getelementptr i8, ptr %dx, i64 4
  %third = getelementptr i8, ptr %dx, i64 8
  %last = getelementptr i8, ptr %dx, i64 12
  %add1 = atomicrmw fadd ptr %dx, float %a monotonic
  %add2 = atomicrmw fadd ptr %second, float %v monotonic
  %w = load float, ptr %x
  %add3 = atomicrmw fadd ptr %third, float %w monotonic
  %add4 = atomicrmw fadd ptr %last, float %a monotonic
  call void @adgen_add_warp_f32_1(ptr %dx, ptr %x, i32 0, i32 0, i1 false)
  ret void
}

declare void @adgen_add_warp_f32_1(ptr, ptr, i32, i32, i1)

; Three floats of a vector, which begins at 16 bytes, are added with zero for the last one; three of an array of floats are not.
; CHECK-LABEL: define void @adgen_gradient_three(
; CHECK:         call void asm sideeffect "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) {{.*}}, float %a, float %b, float %a, float 0.000000e+00)
; CHECK-COUNT-3: atomicrmw fadd
; CHECK:         call void asm sideeffect "red.global.add.v2.f32
; CHECK-NOT:     asm
; CHECK:         ret void
define void @adgen_gradient_three(ptr %x, i64 %i, float %a, float %b, ptr "adgen-shadow" %dx, ptr "adgen-shadow" %dy) "adgen-activity"="duplicated:const:const:const" "adgen-shared" {
  %at = getelementptr [16 x i8], ptr %dx, i64 %i
  %second = getelementptr i8, ptr %at, i64 4
  %third = getelementptr i8, ptr %at, i64 8
  %y = getelementptr [16 x i8], ptr %dy, i64 %i
  %y2 = getelementptr i8, ptr %y, i64 4
  %y3 = getelementptr i8, ptr %y, i64 8
  %1 = atomicrmw fadd ptr %third, float %a monotonic, align 8
  %2 = atomicrmw fadd ptr %second, float %b monotonic, align 4
  %3 = atomicrmw fadd ptr %at, float %a monotonic, align 16
  %4 = atomicrmw fadd ptr %y, float %a monotonic, align 4
  %5 = atomicrmw fadd ptr %y2, float %a monotonic, align 4
  %6 = atomicrmw fadd ptr %y3, float %a monotonic, align 4
  ret void
}
