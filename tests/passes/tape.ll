; What a gradient keeps leaves the heap for a tape: places are numbers, byte b lies at (b / 8) * 256 + b % 8. A second function measures
; what a thread needs: the forward sweep up to the first block of the reverse one, without what it computes and writes.
;
; RUN: %opt -passes=adgen-tape -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A size that depends on memory which the sweep itself writes cannot be measured beforehand: the heap stays.
; CHECK-LABEL: define void @adgen_gradient_own(ptr %x)
; CHECK:         call ptr @malloc

; A block from which one way goes forward and keeps more, and another one leads into the reverse sweep: both are measured.
; CHECK-LABEL: define void @adgen_tape_more(
; CHECK:         add i64 0, 8
; CHECK:         br i1 %{{.*}}, label %forward, label %
; CHECK:       forward:
; CHECK:         add i64 %{{.*}}, 16

; CHECK-LABEL: define void @adgen_tape_k(ptr %0, i64 %1, ptr %2)
; CHECK:         %[[BYTES:.*]] = mul i64 %1, 8
; CHECK:         %[[UP:.*]] = add i64 %[[BYTES]], 7
; CHECK-NEXT:    %[[WHOLE:.*]] = and i64 %[[UP]], -8
; CHECK-NEXT:    %[[MINE:.*]] = add i64 0, %[[WHOLE]]
; CHECK-NOT:     malloc
; CHECK-NOT:     store double
; CHECK:         %[[KNOWN:.*]] = load volatile i64, ptr %2
; CHECK-NEXT:    icmp ugt i64 %[[MINE]], %[[KNOWN]]
; CHECK:         atomicrmw umax ptr %2, i64 %[[MINE]] monotonic
; CHECK-NOT:     invert

; CHECK-LABEL: define void @adgen_gradient_k(ptr %x, i64 %n, ptr %0, i32 %1, i32 %2, i32 %3, i32 %4, i32 %5, i32 %6)
; CHECK-SAME:    #[[TAPE:[0-9]+]]
; CHECK-NOT:     malloc
; CHECK-NOT:     ctaid
; CHECK:         %[[WORD:.*]] = mul i64 {{.*}}, 256
; CHECK:         getelementptr i8, ptr %0, i64
; CHECK:         invert:
; CHECK-NOT:     call void @free

; Without branches both sweeps are in one block. Where a local variable lives decides about nothing.
; CHECK-LABEL: define void @adgen_tape_straight(
; CHECK-NOT:     load double
; CHECK:         atomicrmw umax

define void @adgen_body_more(ptr %x, i64 %n) {
  ret void
}

define void @adgen_gradient_more(ptr %x, i64 %n) {
entry:
  %first = call ptr @malloc(i64 8), !enzyme_cache_alloc !0
  store double 1.0, ptr %first
  %longer = icmp ugt i64 %n, 4
  br i1 %longer, label %forward, label %invert
forward:
  %second = call ptr @malloc(i64 16), !enzyme_cache_alloc !0
  store double 2.0, ptr %second
  br label %invert
invert:
  %kept = phi ptr [ %first, %entry ], [ %second, %forward ]
  %w = load double, ptr %kept
  store double %w, ptr %x
  ret void
}

define void @adgen_body_k(ptr %x, i64 %n) {
  ret void
}

define void @adgen_gradient_k(ptr %x, i64 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %at = getelementptr double, ptr %x, i32 %b
  %v = load double, ptr %at
  %size = mul i64 %n, 8
  %kept = call ptr @malloc(i64 %size), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %y = phi double [ %v, %entry ], [ %square, %loop ]
  %slot = getelementptr inbounds double, ptr %kept, i64 %i
  store double %y, ptr %slot
  %square = fmul double %y, %y
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  store double %square, ptr %x
  br label %invert
invert:
  %back = phi i64 [ %n, %end ], [ %before, %invert ]
  %before = sub i64 %back, 1
  %read = getelementptr inbounds double, ptr %kept, i64 %before
  %w = load double, ptr %read
  store double %w, ptr %x
  %again = icmp ne i64 %before, 0
  br i1 %again, label %invert, label %invertdone
invertdone:
  call void @free(ptr %kept)
  ret void
}

define void @adgen_body_straight(ptr %x) {
  ret void
}

define void @adgen_gradient_straight(ptr %x, i64 %n) {
  %local = alloca double
  call void @llvm.lifetime.start.p0(ptr %local)
  %rounded = and i64 %n, 7
  %element = getelementptr i8, ptr %local, i64 %rounded
  store volatile i8 3, ptr %element
  %bits = load volatile i8, ptr %element
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  %v = load double, ptr %x
  store double %v, ptr %kept
  store double 0.0, ptr %x
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  store double %w, ptr %x
  call void @llvm.lifetime.end.p0(ptr %local)
  ret void
}

define void @adgen_body_own(ptr %x) {
  ret void
}

define void @adgen_gradient_own(ptr %x) {
entry:
  store i64 5, ptr %x
  %n = load i64, ptr %x
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare ptr @malloc(i64)
declare void @free(ptr)

; CHECK: attributes #[[TAPE]] = { "adgen-tape"="by-scalars" }
!0 = !{}
