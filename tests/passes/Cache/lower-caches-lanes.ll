; Lanes that wait for others say in shared memory which of them are there; how much is kept does not depend on it, and what
; measures that waits for nobody.
;
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s
; RUN: %opt -passes=adgen-lower-caches -S %s | %filecheck %s --check-prefix=TAPE

@adgen_lanes_gone = internal addrspace(3) global [32 x i32] undef

; TAPE:          define {{.*}}_tape_waits(
; TAPE-NOT:      @adgen_lanes_gone
; TAPE:          atomicrmw umax
; CHECK:         define void @adgen_gradient_waits(
; CHECK-NOT:     malloc
; CHECK:         load volatile i32, ptr addrspacecast (ptr addrspace(3) @adgen_lanes_gone to ptr)
define void @adgen_body_waits(ptr %x, i32 %n) {
  ret void
}
define void @adgen_gradient_waits(ptr %x, i32 %n) {
entry:
  %count = zext i32 %n to i64
  %bytes = mul i64 %count, 4
  %kept = call ptr @malloc(i64 %bytes), !enzyme_cache_alloc !0
  br label %wait
wait:
  %gone = load volatile i32, ptr addrspacecast (ptr addrspace(3) @adgen_lanes_gone to ptr)
  %alone = icmp eq i32 %gone, -1
  br i1 %alone, label %loop, label %wait
loop:
  %i = phi i64 [ 0, %wait ], [ %next, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %at
  %place = getelementptr inbounds float, ptr %kept, i64 %i
  store float %value, ptr %place
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %invertloop, label %loop
invertloop:
  %j = phi i64 [ %count, %loop ], [ %down, %invertloop ]
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

declare noalias ptr @malloc(i64)
declare void @free(ptr)
!0 = !{}
