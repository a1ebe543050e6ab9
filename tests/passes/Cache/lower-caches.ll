; What a gradient keeps leaves the heap for a tape: places are numbers, byte b lies at (b / 8) * 256 + b % 8. A second function measures
; what a thread needs: the forward sweep up to the first block of the reverse one, without what it computes and writes.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@counter = addrspace(1) global i64 0
@tile = addrspace(3) global i64 poison

; A size that depends on a variable which the sweep itself writes cannot be measured beforehand: the heap stays.
; CHECK-LABEL: define void @adgen_gradient_counted(ptr %x)
; CHECK:         call ptr @malloc

; A block from which one way goes forward and keeps more, and another one leads into the reverse sweep: both are measured.
; CHECK-LABEL: define void @adgen_tape_more(
; CHECK:         add i64 0, 136
; CHECK:         br i1 %{{.*}}, label %forward, label %
; CHECK:       forward:
; CHECK:         add i64 %{{.*}}, 144

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

; CHECK-LABEL: define void @adgen_gradient_k(ptr %x, i64 %n, i64 %0, ptr %1, i32 %2, i32 %3, i32 %4, i32 %5, i32 %6, i32 %7)
; CHECK-SAME:    #[[TAPE:[0-9]+]]
; CHECK-NOT:     malloc
; CHECK-NOT:     ctaid
; CHECK:         %[[WORD:.*]] = mul i64 {{.*}}, 32
; CHECK:         getelementptr i8, ptr %1, i64 %[[WORD]]
; CHECK:         invert:
; CHECK-NOT:     call void @free

; Without branches both sweeps are in one block. Where a local variable lives decides about nothing.
; CHECK-LABEL: define void @adgen_tape_straight(
; CHECK-NOT:     load double
; CHECK:         atomicrmw umax

; What is kept in shared arrays belongs to nobody else.
; CHECK-LABEL: define void @adgen_tape_together(
; CHECK-SAME:    ptr %[[X:.*]], ptr %[[TILE:.*]], ptr %{{.*}}, ptr %{{.*}})
; CHECK:         store i64 %{{.*}}, ptr %[[TILE]]
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    load i64, ptr %[[TILE]]
; CHECK-LABEL: define void @adgen_gradient_together(
; CHECK-SAME:    #[[RUN:[0-9]+]]

; A struct by value is the thread's own, and what one of its pointers leads to is none of the others' memory. Wide values are kept in pieces,
; and no place is one too.
; CHECK-LABEL: define void @adgen_tape_member(
; CHECK-NOT:     store
; CHECK:         load i64
; CHECK-LABEL: define void @adgen_gradient_member(
; CHECK-SAME:    #[[ARRAYS:[0-9]+]]
; CHECK:         %[[PIECES:.*]] = bitcast <4 x float> %wide to <2 x i64>
; CHECK:         extractelement <2 x i64> %[[PIECES]], i64 0
; CHECK:         extractelement <2 x i64> %[[PIECES]], i64 1
; CHECK:         store ptr null, ptr %
; CHECK:         bitcast <2 x i64> %{{.*}} to <4 x float>

; One that depends on an array of the caller which it writes is measured by running it, with a guard in case it differs then. What it
; writes for others to read is left out.
; CHECK-LABEL: define void @adgen_tape_own(ptr %0, ptr %1, ptr %2)
; CHECK:         store i64 5, ptr %0
; CHECK-NEXT:    %[[SIZE:.*]] = load i64, ptr %0
; CHECK:         add i64 %[[SIZE]], 7
; CHECK-NOT:     ptr %1
; CHECK:         ret void
; CHECK-LABEL: define void @adgen_gradient_own(
; CHECK-SAME:    #[[INPLACE:[0-9]+]]
; CHECK:         call void @adgen_tape_guard(i64 %{{.*}}, i64 %0)

define void @adgen_body_more(ptr %x, i64 %n) {
  ret void
}

define void @adgen_gradient_more(ptr %x, i64 %n) {
entry:
  %first = call ptr @malloc(i64 136), !enzyme_cache_alloc !0
  store double 1.0, ptr %first
  %longer = icmp ugt i64 %n, 4
  br i1 %longer, label %forward, label %invert
forward:
  %second = call ptr @malloc(i64 144), !enzyme_cache_alloc !0
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

define void @adgen_body_counted(ptr %x) {
  ret void
}

define void @adgen_gradient_counted(ptr %x) {
entry:
  store i64 5, ptr addrspacecast (ptr addrspace(1) @counter to ptr)
  %n = load i64, ptr addrspacecast (ptr addrspace(1) @counter to ptr)
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

define void @adgen_body_together(ptr %x) {
  ret void
}

define void @adgen_gradient_together(ptr %x, ptr %tile, ptr %d_tile) "adgen-shared"="tile" "adgen-activity"="const" {
entry:
  %mine = load i64, ptr %x
  store i64 %mine, ptr %tile
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %n = load i64, ptr %tile
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

define void @adgen_body_member(ptr %s) {
  ret void
}

define void @adgen_gradient_member(ptr "adgen-struct"="24" %s, <4 x float> %wide) "adgen-activity"="const:const" {
entry:
  %out = load ptr, ptr %s
  store float 1.0, ptr %out
  %there = getelementptr i8, ptr %s, i64 8
  %counts = load ptr, ptr %there
  %n = load i64, ptr %counts
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store <4 x float> %wide, ptr %kept, align 16
  %places = call ptr @malloc(i64 16), !enzyme_cache_alloc !0
  store ptr %kept, ptr %places
  %second = getelementptr i8, ptr %places, i64 8
  store ptr null, ptr %second
  br label %invert
invert:
  %place = load ptr, ptr %places
  %w = load <4 x float>, ptr %place, align 16
  store <4 x float> %w, ptr %out
  call void @free(ptr %kept)
  ret void
}

define void @adgen_body_own(ptr %x, ptr %y) {
  ret void
}

define void @adgen_gradient_own(ptr %x, ptr %y) "adgen-activity"="const:const" {
entry:
  store i64 5, ptr %x
  %n = load i64, ptr %x
  %kept = call ptr @malloc(i64 %n), !enzyme_cache_alloc !0
  store double 1.0, ptr %kept
  store double 2.0, ptr %y
  br label %invert
invert:
  %w = load double, ptr %kept
  call void @free(ptr %kept)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare ptr @malloc(i64)
declare void @free(ptr)

; CHECK-DAG: attributes #[[TAPE]] = { "adgen-tape"="scalars" }
; CHECK-DAG: attributes #[[ARRAYS]] = { "adgen-activity"="const:const" "adgen-tape"="arrays" }
; CHECK-DAG: attributes #[[RUN]] = { "adgen-activity"="const" "adgen-shared"="tile" "adgen-tape"="run" }
; CHECK-DAG: attributes #[[INPLACE]] = { "adgen-activity"="const:const" "adgen-tape"="run in place" }
!0 = !{}
