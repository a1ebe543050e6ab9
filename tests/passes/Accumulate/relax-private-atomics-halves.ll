; Eight halves side by side are left to one reduction where a GPU has such ones; others, and what is on an older GPU, are
; loaded and stored.
;
; RUN: %opt -passes=adgen-relax-private-atomics -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_eight(
; CHECK-NOT:     load half
; CHECK-COUNT-8: atomicrmw fadd
; CHECK:         ret void
define void @adgen_gradient_eight(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-owned-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" "target-cpu"="sm_90" {
  %far = zext i32 %at to i64
  %h0 = getelementptr half, ptr %dy, i64 %far
  %v0 = atomicrmw fadd ptr %h0, half 1.0 monotonic
  %h1 = getelementptr i8, ptr %h0, i64 2
  %v1 = atomicrmw fadd ptr %h1, half 1.0 monotonic
  %h2 = getelementptr i8, ptr %h0, i64 4
  %v2 = atomicrmw fadd ptr %h2, half 1.0 monotonic
  %h3 = getelementptr i8, ptr %h0, i64 6
  %v3 = atomicrmw fadd ptr %h3, half 1.0 monotonic
  %h4 = getelementptr i8, ptr %h0, i64 8
  %v4 = atomicrmw fadd ptr %h4, half 1.0 monotonic
  %h5 = getelementptr i8, ptr %h0, i64 10
  %v5 = atomicrmw fadd ptr %h5, half 1.0 monotonic
  %h6 = getelementptr i8, ptr %h0, i64 12
  %v6 = atomicrmw fadd ptr %h6, half 1.0 monotonic
  %h7 = getelementptr i8, ptr %h0, i64 14
  %v7 = atomicrmw fadd ptr %h7, half 1.0 monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_ten(
; CHECK:       own:
; CHECK-COUNT-2: load half
; CHECK-COUNT-8: atomicrmw fadd
; CHECK:         ret void
define void @adgen_gradient_ten(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-owned-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" "target-cpu"="sm_90" {
  %far = zext i32 %at to i64
  %h0 = getelementptr half, ptr %dy, i64 %far
  %v0 = atomicrmw fadd ptr %h0, half 1.0 monotonic
  %h1 = getelementptr i8, ptr %h0, i64 2
  %v1 = atomicrmw fadd ptr %h1, half 1.0 monotonic
  %h2 = getelementptr i8, ptr %h0, i64 4
  %v2 = atomicrmw fadd ptr %h2, half 1.0 monotonic
  %h3 = getelementptr i8, ptr %h0, i64 6
  %v3 = atomicrmw fadd ptr %h3, half 1.0 monotonic
  %h4 = getelementptr i8, ptr %h0, i64 8
  %v4 = atomicrmw fadd ptr %h4, half 1.0 monotonic
  %h5 = getelementptr i8, ptr %h0, i64 10
  %v5 = atomicrmw fadd ptr %h5, half 1.0 monotonic
  %h6 = getelementptr i8, ptr %h0, i64 12
  %v6 = atomicrmw fadd ptr %h6, half 1.0 monotonic
  %h7 = getelementptr i8, ptr %h0, i64 14
  %v7 = atomicrmw fadd ptr %h7, half 1.0 monotonic
  %h8 = getelementptr i8, ptr %h0, i64 16
  %v8 = atomicrmw fadd ptr %h8, half 1.0 monotonic
  %h9 = getelementptr i8, ptr %h0, i64 18
  %v9 = atomicrmw fadd ptr %h9, half 1.0 monotonic
  ret void
}

; Of a shadow that is also read they are not added by one instruction.
; CHECK-LABEL: define void @adgen_gradient_in_place(
; CHECK:       own:
; CHECK-COUNT-8: load half
; CHECK-NOT:     atomicrmw
; CHECK:       shared:
; CHECK-COUNT-8: atomicrmw fadd
define void @adgen_gradient_in_place(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-owned-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" "target-cpu"="sm_90" {
  %far = zext i32 %at to i64
  %h0 = getelementptr half, ptr %dy, i64 %far
  %v0 = atomicrmw fadd ptr %h0, half 1.0 monotonic
  %h1 = getelementptr i8, ptr %h0, i64 2
  %v1 = atomicrmw fadd ptr %h1, half 1.0 monotonic
  %h2 = getelementptr i8, ptr %h0, i64 4
  %v2 = atomicrmw fadd ptr %h2, half 1.0 monotonic
  %h3 = getelementptr i8, ptr %h0, i64 6
  %v3 = atomicrmw fadd ptr %h3, half 1.0 monotonic
  %h4 = getelementptr i8, ptr %h0, i64 8
  %v4 = atomicrmw fadd ptr %h4, half 1.0 monotonic
  %h5 = getelementptr i8, ptr %h0, i64 10
  %v5 = atomicrmw fadd ptr %h5, half 1.0 monotonic
  %h6 = getelementptr i8, ptr %h0, i64 12
  %v6 = atomicrmw fadd ptr %h6, half 1.0 monotonic
  %h7 = getelementptr i8, ptr %h0, i64 14
  %v7 = atomicrmw fadd ptr %h7, half 1.0 monotonic
  %now = load half, ptr %dy
  store half %now, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_older(
; CHECK:       own:
; CHECK-COUNT-8: load half
; CHECK-NOT:     atomicrmw
; CHECK:       shared:
; CHECK-COUNT-8: atomicrmw fadd
define void @adgen_gradient_older(ptr %y, i32 %n, i32 %at, ptr "adgen-shadow" "adgen-owned-in-rows"="*1:1" %dy) "adgen-activity"="duplicated:const:const" "adgen-shared" "target-cpu"="sm_80" {
  %far = zext i32 %at to i64
  %h0 = getelementptr half, ptr %dy, i64 %far
  %v0 = atomicrmw fadd ptr %h0, half 1.0 monotonic
  %h1 = getelementptr i8, ptr %h0, i64 2
  %v1 = atomicrmw fadd ptr %h1, half 1.0 monotonic
  %h2 = getelementptr i8, ptr %h0, i64 4
  %v2 = atomicrmw fadd ptr %h2, half 1.0 monotonic
  %h3 = getelementptr i8, ptr %h0, i64 6
  %v3 = atomicrmw fadd ptr %h3, half 1.0 monotonic
  %h4 = getelementptr i8, ptr %h0, i64 8
  %v4 = atomicrmw fadd ptr %h4, half 1.0 monotonic
  %h5 = getelementptr i8, ptr %h0, i64 10
  %v5 = atomicrmw fadd ptr %h5, half 1.0 monotonic
  %h6 = getelementptr i8, ptr %h0, i64 12
  %v6 = atomicrmw fadd ptr %h6, half 1.0 monotonic
  %h7 = getelementptr i8, ptr %h0, i64 14
  %v7 = atomicrmw fadd ptr %h7, half 1.0 monotonic
  ret void
}
