; What measures a tape runs no loop that decides about nothing, whatever it reads, and does not ask what a cotangent was that is taken out of a shadow.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s --check-prefix=TAPE

; TAPE:          define {{.*}}_tape_scans(
; TAPE-NOT:      load float
; TAPE-NOT:      xchg
; TAPE:          atomicrmw umax
; CHECK:         define void @adgen_gradient_scans({{.*}} [[KEEPS:#[0-9]+]]
; CHECK:         attributes [[KEEPS]] = {{.*}}"adgen-tape"="scalars"
define void @adgen_body_scans(ptr %x, ptr %d_x, i64 %n) {
  ret void
}
define void @adgen_gradient_scans(ptr %x, ptr "adgen-shadow" %d_x, i64 %n) {
entry:
  %bytes = mul i64 %n, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  %taken = atomicrmw xchg ptr %d_x, float 0.0 monotonic
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  br label %scan
scan:
  %k = phi i64 [ 0, %loop ], [ %k.next, %scan ]
  %best = phi float [ 0.0, %loop ], [ %better, %scan ]
  %of = getelementptr float, ptr %x, i64 %k
  %value = load float, ptr %of
  %more = fcmp ogt float %value, %best
  %better = select i1 %more, float %value, float %best
  %k.next = add nuw i64 %k, 1
  %scanned = icmp eq i64 %k.next, 16
  br i1 %scanned, label %keep, label %scan
keep:
  %place = getelementptr inbounds float, ptr %kept, i64 %i
  store float %better, ptr %place
  %high = fcmp ogt float %better, 1.0
  br i1 %high, label %write, label %latch
write:
  store float %better, ptr %x
  br label %latch
latch:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %forward, label %loop
forward:
  br label %invertloop
invertloop:
  %j = phi i64 [ %n, %forward ], [ %down, %invertloop ]
  %down = add i64 %j, -1
  %from = getelementptr inbounds float, ptr %kept, i64 %down
  %was = load float, ptr %from
  %scaled = fmul float %was, %taken
  %to = getelementptr float, ptr %d_x, i64 %down
  store float %scaled, ptr %to
  %first = icmp eq i64 %down, 0
  br i1 %first, label %end, label %invertloop
end:
  call void @free(ptr %kept), !enzyme_cache_free !0
  ret void
}

declare noalias ptr @malloc(i64)
declare void @free(ptr)
!0 = !{}
