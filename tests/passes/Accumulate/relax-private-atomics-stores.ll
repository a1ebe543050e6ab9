; What is taken from the shadow of an array whose rows are stored by their threads needs no exchange where the launch keeps
; to it, whatever else is done with the array.
;
; RUN: %opt -passes=adgen-relax-private-atomics -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_stored(
; CHECK:         br i1 {{.*}}, label %own, label %shared
; CHECK:       own:
; CHECK:         [[TAKEN:%.*]] = load float, ptr [[PLACE:%.*]], align 4
; CHECK-NEXT:    store float 0.000000e+00, ptr [[PLACE]]
; CHECK-NEXT:    atomicrmw fadd ptr {{.*}}, float [[TAKEN]]
; CHECK:       shared:
; CHECK:         atomicrmw xchg
; CHECK:         atomicrmw fadd
define void @adgen_gradient_stored(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-stored-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %far = zext i32 %at to i64
  %place = getelementptr float, ptr %dy, i64 %far
  %taken = atomicrmw xchg ptr %place, float 0.0 monotonic, align 4, !adgen.consumed !0
  %added = atomicrmw fadd ptr %dy, float %taken monotonic
  ret void
}

; Where only loads tell their threads, the exchange stays.
; CHECK-LABEL: define void @adgen_gradient_loaded(
; CHECK:       own:
; CHECK:         atomicrmw xchg
; CHECK-NOT:     atomicrmw fadd
; CHECK:       shared:
; CHECK:         atomicrmw xchg
; CHECK:         atomicrmw fadd
define void @adgen_gradient_loaded(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-owned-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %far = zext i32 %at to i64
  %place = getelementptr float, ptr %dy, i64 %far
  %taken = atomicrmw xchg ptr %place, float 0.0 monotonic, align 4, !adgen.consumed !0
  %added = atomicrmw fadd ptr %dy, float %taken monotonic
  ret void
}
!0 = !{}

; A block that is no longer than a fourth of the row, which is a multiple of eight.
; CHECK-LABEL: define void @adgen_gradient_filled(
; CHECK:         [[FOURTH:%.*]] = udiv i64 {{.*}}, 4
; CHECK-NEXT:    [[BLOCK:%.*]] = zext i32 {{.*}} to i64
; CHECK-NEXT:    icmp ule i64 [[BLOCK]], [[FOURTH]]
; CHECK:         [[LEFT:%.*]] = urem i64 {{.*}}, 8
; CHECK-NEXT:    icmp eq i64 [[LEFT]], 0
; CHECK:       own:
; CHECK-NOT:     atomicrmw
; CHECK:       shared:
; CHECK:         atomicrmw xchg
define void @adgen_gradient_filled(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-stored-in-rows"="*1:1<4%8" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" {
  %far = zext i32 %at to i64
  %place = getelementptr float, ptr %dy, i64 %far
  %taken = atomicrmw xchg ptr %place, float 0.0 monotonic, align 4, !adgen.consumed !0
  store float %taken, ptr %y
  ret void
}
