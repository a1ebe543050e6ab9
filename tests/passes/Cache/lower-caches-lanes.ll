; What measures asks nobody which lanes take part where only inputs decide: it measures as if all of the mask did, and as
; if some did not, for which more may be kept. It counts no threads.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s --check-prefix=TAPE

; TAPE:          define {{.*}}_tape_waits(
; TAPE-NOT:      adgen_lanes
; TAPE:          mul i64 %half.i, 4
; TAPE:          atomicrmw umax
; TAPE:          select i1 true
; TAPE:          atomicrmw umax
; TAPE:          ret void
; CHECK:         define void @adgen_gradient_waits({{.*}} [[KEEPS:#[0-9]+]]
; CHECK-NOT:     malloc
; CHECK:         call i32 @adgen_lanes_participants(i32 -1)
; CHECK:         attributes [[KEEPS]] = {{.*}}"adgen-tape"="scalars"
define void @adgen_body_waits(ptr %x, i32 %n) {
  ret void
}
define void @adgen_gradient_waits(ptr %x, i32 %n) {
entry:
  call void @adgen_lanes_begin()
  %lanes = call i32 @adgen_lanes_participants(i32 -1)
  %tally = call i32 @adgen_lanes_tally(i1 true)
  %all = icmp eq i32 %lanes, -1
  %count = zext i32 %n to i64
  %half = lshr i64 %count, 1
  %most = select i1 %all, i64 %count, i64 %half
  %bytes = mul i64 %most, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %at
  %place = getelementptr inbounds float, ptr %kept, i64 %i
  store float %value, ptr %place
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %most
  br i1 %done, label %forward, label %loop
forward:
  call void @adgen_lanes_leave()
  br label %invertloop
invertloop:
  %j = phi i64 [ %most, %forward ], [ %down, %invertloop ]
  %down = add i64 %j, -1
  %from = getelementptr inbounds float, ptr %kept, i64 %down
  %was = load float, ptr %from
  %to = getelementptr float, ptr %x, i64 %down
  store float %was, ptr %to
  %first = icmp eq i64 %down, 0
  br i1 %first, label %end, label %invertloop
end:
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

; Where what threads have written decides, it is measured by running, and lanes say what they do as in the gradient.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s --check-prefix=EFFECTS
; EFFECTS:       define {{.*}}_tape_runs(
; EFFECTS:       [[LANES:%.*]] = call i32 @adgen_lanes_participants(i32 -1)
; EFFECTS:       icmp eq i32 [[LANES]], -1
; EFFECTS:       call void @adgen_lanes_leave()
; EFFECTS:       atomicrmw umax
define void @adgen_body_runs(ptr %x, ptr %lengths) {
  ret void
}
define void @adgen_gradient_runs(ptr noalias %x, ptr noalias %lengths, ptr noalias "adgen-shadow" %d_x) "adgen-activity"="duplicated:const" {
entry:
  store i64 7, ptr %lengths
  call void @adgen_lanes_begin()
  %lanes = call i32 @adgen_lanes_participants(i32 -1)
  %all = icmp eq i32 %lanes, -1
  %count = load i64, ptr %lengths
  %most = select i1 %all, i64 4, i64 %count
  %bytes = mul i64 %most, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %value = load float, ptr %x
  store float %value, ptr %kept
  call void @adgen_lanes_leave()
  br label %invert
invert:
  %was = load float, ptr %kept
  %d = atomicrmw fadd ptr %d_x, float %was monotonic
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

declare void @adgen_lanes_begin()
declare i32 @adgen_lanes_participants(i32)
declare i32 @adgen_lanes_tally(i1)
declare void @adgen_lanes_leave()
declare noalias ptr @malloc(i64)
declare void @free(ptr)
!0 = !{}
