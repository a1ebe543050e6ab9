; Two numbers of 16 bits that lie in one word are taken by one exchange, where the first was, and added to at once, where
; the last was. One that is taken alone is its half of the word, the others of which a mask leaves.
;
; RUN: %opt -passes=adgen-pack-half-atomics,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @taken(
; CHECK:         [[LOW:%.*]] = getelementptr i8, ptr addrspace(3) %second, i64 -2
; CHECK-NEXT:    [[WORD:%.*]] = atomicrmw xchg ptr addrspace(3) [[LOW]], i32 0 monotonic, align 4
; CHECK-NEXT:    [[UPPER:%.*]] = lshr i32 [[WORD]], 16
; CHECK-NEXT:    [[A:%.*]] = trunc i32 [[WORD]] to i16
; CHECK-NEXT:    [[B:%.*]] = trunc i32 [[UPPER]] to i16
; CHECK-NEXT:    %third = getelementptr
; CHECK:         [[OTHERS:%.*]] = xor i32 {{.*}}, -1
; CHECK-NEXT:    [[ALONE:%.*]] = atomicrmw and ptr addrspace(3) {{.*}}, i32 [[OTHERS]] monotonic, align 4
; CHECK:         store i16 [[A]], ptr addrspace(1) %to
; CHECK:         store i16 [[B]]
define ptx_kernel void @taken(ptr addrspace(3) align 4 %shadow, ptr addrspace(1) %to) "adgen-activity"="duplicated" {
  %second = getelementptr i8, ptr addrspace(3) %shadow, i64 2
  %b = atomicrmw xchg ptr addrspace(3) %second, i16 0 monotonic, align 2, !adgen.consumed !0
  %third = getelementptr i8, ptr addrspace(3) %shadow, i64 4
  %alone = atomicrmw xchg ptr addrspace(3) %third, i16 0 monotonic, align 4, !adgen.consumed !0
  %a = atomicrmw xchg ptr addrspace(3) %shadow, i16 0 monotonic, align 2, !adgen.consumed !0
  store i16 %a, ptr addrspace(1) %to
  %behind = getelementptr i8, ptr addrspace(1) %to, i64 2
  store i16 %b, ptr addrspace(1) %behind
  %rest = getelementptr i8, ptr addrspace(1) %to, i64 4
  store i16 %alone, ptr addrspace(1) %rest
  ret void
}

; The lower one first, of which nothing may be made any more once it is gone.
; CHECK-LABEL: define ptx_kernel void @taken_in_order(
; CHECK:         [[WORD:%.*]] = atomicrmw xchg ptr addrspace(3) %shadow, i32 0 monotonic, align 4
; CHECK-NEXT:    [[UPPER:%.*]] = lshr i32 [[WORD]], 16
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define ptx_kernel void @taken_in_order(ptr addrspace(3) align 4 %shadow, ptr addrspace(1) %to) "adgen-activity"="duplicated" {
  %a = atomicrmw xchg ptr addrspace(3) %shadow, half 0.0 monotonic, align 2, !adgen.consumed !0
  %second = getelementptr i8, ptr addrspace(3) %shadow, i64 2
  %b = atomicrmw xchg ptr addrspace(3) %second, half 0.0 monotonic, align 2, !adgen.consumed !0
  %sum = fadd half %a, %b
  store half %sum, ptr addrspace(1) %to
  ret void
}

; Not across a word's end, nor with a load between them that may be of the same place, nor from another pointer.
; CHECK-LABEL: define ptx_kernel void @apart(
; CHECK-NOT:     xchg
; CHECK-COUNT-4: atomicrmw and {{.*}}, align 4
; CHECK-NOT:     xchg
; CHECK:         ret void
define ptx_kernel void @apart(ptr addrspace(3) align 4 %shadow, ptr addrspace(3) align 4 %other, ptr addrspace(1) %to) "adgen-activity"="duplicated" {
  %second = getelementptr i8, ptr addrspace(3) %shadow, i64 2
  %third = getelementptr i8, ptr addrspace(3) %shadow, i64 4
  %b = atomicrmw xchg ptr addrspace(3) %second, i16 0 monotonic, align 2, !adgen.consumed !0
  %c = atomicrmw xchg ptr addrspace(3) %third, i16 0 monotonic, align 2, !adgen.consumed !0
  %read = load i16, ptr addrspace(3) %other
  %fourth = getelementptr i8, ptr addrspace(3) %shadow, i64 6
  %d = atomicrmw xchg ptr addrspace(3) %fourth, i16 0 monotonic, align 2, !adgen.consumed !0
  %e = atomicrmw xchg ptr addrspace(3) %other, i16 0 monotonic, align 2, !adgen.consumed !0
  store i16 %b, ptr addrspace(1) %to
  store i16 %c, ptr addrspace(1) %to
  store i16 %d, ptr addrspace(1) %to
  store i16 %e, ptr addrspace(1) %to
  store i16 %read, ptr addrspace(1) %to
  ret void
}

; CHECK-LABEL: define ptx_kernel void @added(
; CHECK:         [[ONE:%.*]] = insertelement <2 x half> poison, half %v, i64 0
; CHECK-NEXT:    [[BOTH:%.*]] = insertelement <2 x half> [[ONE]], half %w, i64 1
; CHECK-NEXT:    [[WORD:%.*]] = bitcast <2 x half> [[BOTH]] to i32
; CHECK-NEXT:    call void asm sideeffect "red.shared.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}"(ptr addrspace(3) %shadow, i32 [[WORD]])
; CHECK-NEXT:    %unknown = atomicrmw fadd ptr addrspace(3) %other, half %v
; CHECK:         atomicrmw fadd ptr addrspace(3)
; CHECK:         call void asm sideeffect "red.shared.add.noftz.bf16x2 [$0], $1;", "l,r,~{memory}"(ptr addrspace(3) %aligned, i32
; CHECK-NEXT:    ret void
define ptx_kernel void @added(ptr addrspace(3) align 4 %shadow, ptr addrspace(3) %other, ptr addrspace(3) align 4 %aligned, half %v, half %w, bfloat %x) "adgen-activity"="duplicated" "target-cpu"="sm_90" {
  %second = getelementptr i8, ptr addrspace(3) %shadow, i64 2
  %1 = atomicrmw fadd ptr addrspace(3) %second, half %w monotonic, align 2
  %2 = atomicrmw fadd ptr addrspace(3) %shadow, half %v monotonic, align 2
  %unknown = atomicrmw fadd ptr addrspace(3) %other, half %v monotonic, align 2
  %behind = getelementptr i8, ptr addrspace(3) %other, i64 2
  %4 = atomicrmw fadd ptr addrspace(3) %behind, half %v monotonic, align 2
  %next = getelementptr i8, ptr addrspace(3) %aligned, i64 2
  %5 = atomicrmw fadd ptr addrspace(3) %aligned, bfloat %x monotonic, align 2
  %6 = atomicrmw fadd ptr addrspace(3) %next, bfloat %x monotonic, align 2
  ret void
}

; In global memory two that the source adds at once fill a word; others are added with whatever lies beside them. Not
; bfloat before sm_90.
; CHECK-LABEL: define ptx_kernel void @elsewhere(
; CHECK:         call void asm sideeffect "red.global.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %global, i32
; CHECK:         [[ADDRESS:%.*]] = ptrtoint ptr addrspace(1) %other to i64
; CHECK-NEXT:    [[BEHIND:%.*]] = and i64 [[ADDRESS]], 2
; CHECK-NEXT:    [[BACK:%.*]] = sub i64 0, [[BEHIND]]
; CHECK-NEXT:    [[WORD:%.*]] = getelementptr i8, ptr addrspace(1) %other, i64 [[BACK]]
; CHECK:         [[ZERO:%.*]] = lshr i32 -2147483648, [[MOVED:%.*]]
; CHECK-NEXT:    [[OWN:%.*]] = shl i32 {{.*}}, [[MOVED]]
; CHECK-NEXT:    [[BOTH:%.*]] = or i32 [[OWN]], [[ZERO]]
; CHECK-NEXT:    call void asm sideeffect "red.global.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) [[WORD]], i32 [[BOTH]])
; CHECK-COUNT-2: atomicrmw fadd {{.*}}, bfloat
; CHECK:         ret void
define ptx_kernel void @elsewhere(ptr addrspace(1) align 4 %global, ptr addrspace(1) %other, ptr addrspace(3) align 4 %shared, half %v, bfloat %x) "adgen-activity"="duplicated" "target-cpu"="sm_80" {
  %behind = getelementptr i8, ptr addrspace(1) %global, i64 2
  %1 = atomicrmw fadd ptr addrspace(1) %global, half %v monotonic, align 2, !adgen.begins.word !0
  %2 = atomicrmw fadd ptr addrspace(1) %behind, half %v monotonic, align 2
  %3 = atomicrmw fadd ptr addrspace(1) %other, half %v monotonic, align 4
  %next = getelementptr i8, ptr addrspace(3) %shared, i64 2
  %4 = atomicrmw fadd ptr addrspace(3) %shared, bfloat %x monotonic, align 4
  %5 = atomicrmw fadd ptr addrspace(3) %next, bfloat %x monotonic, align 2
  ret void
}

; Of a primal only what the source has at once; a pointer in a struct that the caller gives leads to global memory.
; CHECK-LABEL: define ptx_kernel void @primal(
; CHECK:         [[AT:%.*]] = addrspacecast ptr %to to ptr addrspace(1)
; CHECK-NEXT:    call void asm sideeffect "red.global.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) [[AT]], i32
; CHECK-NEXT:    %third = getelementptr
; CHECK-NEXT:    atomicrmw fadd ptr %third, half %v
; CHECK-NEXT:    ret void
define ptx_kernel void @primal(ptr byval(ptr) %given, half %v) "target-cpu"="sm_90" {
  %to = load ptr, ptr %given
  %1 = atomicrmw fadd ptr %to, half %v monotonic, align 2, !adgen.begins.word !0
  %second = getelementptr i8, ptr %to, i64 2
  %2 = atomicrmw fadd ptr %second, half %v monotonic, align 2
  %third = getelementptr i8, ptr %to, i64 4
  %3 = atomicrmw fadd ptr %third, half %v monotonic, align 2
  ret void
}

!0 = !{}
