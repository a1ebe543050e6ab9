; A block that grows with a loop of unknown length stays where it is if nothing comes behind it on the tape: its place is
; the old one, the tape ends behind what it has now, and nothing is copied. The end of what it had is that of its granule.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_grows(
; CHECK:       grow:
; CHECK-NEXT:    %had = lshr i64 %bytes, 1
; CHECK-NEXT:    %[[LONG:.*]] = add i64 %[[OLD:.*]], %had
; CHECK-NEXT:    %[[UP:.*]] = add i64 %[[LONG]], 7
; CHECK-NEXT:    %[[END:.*]] = and i64 %[[UP]], -8
; CHECK-NEXT:    %[[CURSOR:.*]] = load i64, ptr %tape.cursor
; CHECK-NEXT:    %is.last = icmp eq i64 %[[END]], %[[CURSOR]]
; CHECK-NEXT:    %[[AGAIN:.*]] = load i64, ptr %tape.cursor
; CHECK-NEXT:    %[[BEGINS:.*]] = select i1 %is.last, i64 %[[OLD]], i64 %[[AGAIN]]
; CHECK-NEXT:    store i64 %[[BEGINS]], ptr %tape.cursor
; CHECK-NEXT:    %[[COPIED:.*]] = select i1 %is.last, i64 0, i64 %had
; CHECK-NEXT:    %[[NEW:.*]] = load i64, ptr %tape.cursor
; CHECK:         store i64 %{{.*}}, ptr %tape.cursor
; CHECK:         call void @adgen_tape_copy(ptr %{{.*}}, i64 %[[NEW]], i64 %[[OLD]], i64 %[[COPIED]])
define void @adgen_body_grows(ptr %x, i64 %n) {
  ret void
}
define void @adgen_gradient_grows(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %on ]
  %kept = phi ptr [ null, %entry ], [ %grown, %on ]
  %bytes = phi i64 [ 4, %entry ], [ %twice, %on ]
  %twice = shl i64 %bytes, 1
  %full = trunc i64 %i to i1
  br i1 %full, label %grow, label %on
grow:
  %had = lshr i64 %bytes, 1
  %new = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %kept, i64 %had, i1 false)
  br label %on
on:
  %grown = phi ptr [ %new, %grow ], [ %kept, %loop ]
  %slot = getelementptr inbounds float, ptr %grown, i64 %i
  store float 1.0, ptr %slot
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %invert
invert:
  %read = load float, ptr %grown
  store float %read, ptr %x
  call void @free(ptr %grown), !enzyme_cache_free !0
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!0 = !{}
