; Where all threads of a block come to every barrier alike, a block is cut there into loops over its threads; branches and counters that
; all threads share run once, around the loops. What is kept from loop to loop has one element a thread in scratch memory; what follows
; from the thread's index is computed again.
;
; RUN: %opt -passes=adgen-barrier-loop-fission -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: @sum__primal_cooperative = internal global { ptr, ptr, ptr, ptr, i64, i64, i32, i32 } { ptr @sum__primal_each, ptr @sum__primal_each, ptr @sum__primal_split, ptr @sum__primal_split_alone, i64 12, i64 64, i32 0, i32 0 }
@sum__primal_cooperative = internal global { ptr, ptr, ptr, ptr, i64, i64, i32, i32 } { ptr @sum__primal_each, ptr @sum__primal_each, ptr null, ptr null, i64 0, i64 64, i32 0, i32 0 }

; Some threads may come to this barrier and others not: they keep their own stacks. So do warps.
; CHECK: @some__primal_cooperative = internal global {{.*}} { ptr @some__primal_each, ptr @some__primal_each, ptr null, ptr null, i64 0, i64 0, i32 0, i32 0 }
@some__primal_cooperative = internal global { ptr, ptr, ptr, ptr, i64, i64, i32, i32 } { ptr @some__primal_each, ptr @some__primal_each, ptr null, ptr null, i64 0, i64 0, i32 0, i32 0 }
; CHECK: @warp__primal_cooperative = internal global {{.*}} ptr null, ptr null
@warp__primal_cooperative = internal global { ptr, ptr, ptr, ptr, i64, i64, i32, i32 } { ptr @warp__primal_each, ptr @warp__primal_each, ptr null, ptr null, i64 0, i64 0, i32 0, i32 0 }
@votes__gradient_cooperative = internal global { ptr, ptr, ptr, ptr, i64, i64, i32, i32 } { ptr @votes__gradient_each, ptr @votes__gradient_each, ptr null, ptr null, i64 0, i64 0, i32 1, i32 0 }

declare float @begin(i32)
declare void @adgen_barrier(ptr, i32, i32)
declare i32 @adgen_barrier_and(ptr, i32, i32, i32)
declare i64 @adgen_warp_barrier(ptr, i32, i64, i32, i32)
declare i32 @adgen_dynamic_bytes(ptr)

; for (i < rounds) { tile[t] = v; barrier; v += tile[i]; barrier }  atomicAdd(x, v), atomicAdd(tile, v)
; CHECK-LABEL: define internal void @sum__primal_split(ptr %0, ptr %1, ptr noalias %2, ptr noalias %3, i32 %4, i32 %5, i32 %6)
; The argument is loaded once.
; CHECK:         %x = load ptr, ptr %1
; CHECK-NEXT:    %rounds = load i32, ptr %1
; The kernel's loop has its counter, and what all threads read alike, outside of the loops over threads.
; CHECK:       loop:
; CHECK-NEXT:    %i = phi i32 [ 0, %{{.*}} ], [ %next{{.*}}, %{{.*}} ]
; CHECK:         %at = getelementptr float, ptr %2, i32 %i
; CHECK-NEXT:    %other = load float, ptr %at
; CHECK-NEXT:    add i32 %i, 1
; CHECK:         %more = icmp ult i32
; The first loop over threads stores what v begins with.
; CHECK:         [[V:%.*]] = getelementptr inbounds float, ptr {{%.*}}, i64 %linear
; CHECK:         %start = call float @begin(i32 %thread{{.*}})
; Arrays with what is kept overlap neither each other nor anything else.
; CHECK:         store float %start, ptr [[V]], align 4, !alias.scope [[KEPT:![0-9]+]], !noalias ![[OTHERS:[0-9]+]], !llvm.access.group
; CHECK:         br i1 {{%.*}}, label %{{.*}}, label %{{.*}}, !llvm.loop
; CHECK:         %v = load float, ptr {{%.*}}, align 4, !alias.scope [[KEPT]], !noalias ![[OTHERS]], !llvm.access.group
; CHECK:         [[OWN:%.*]] = getelementptr float, ptr %2, i32 %thread
; CHECK:         store float %v, ptr [[OWN]], align 4, !noalias ![[ALL:[0-9]+]], !llvm.access.group
; CHECK:         %w = fadd float {{%.*}}, %other
; Additions to shared memory are plain; others are not, but in the form for one thread of the operating system.
; CHECK:         atomicrmw fadd ptr %x
; CHECK:         [[OLD:%.*]] = load float, ptr %2
; CHECK-NEXT:    fadd reassoc nsz contract float [[OLD]]
; CHECK-NEXT:    store float {{%.*}}, ptr %2
; CHECK-LABEL: define internal void @sum__primal_split_alone(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define internal void @sum__primal_each(ptr %launch, ptr %args, ptr %shared, ptr %handle, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz) {
entry:
  %x = load ptr, ptr %args
  %rounds = load i32, ptr %args
  %own = getelementptr float, ptr %shared, i32 %tx
  %start = call float @begin(i32 %tx)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = phi float [ %start, %entry ], [ %w, %loop ]
  store float %v, ptr %own
  call void @adgen_barrier(ptr %handle, i32 0, i32 0)
  %at = getelementptr float, ptr %shared, i32 %i
  %other = load float, ptr %at
  %w = fadd float %v, %other
  %next = add i32 %i, 1
  call void @adgen_barrier(ptr %handle, i32 0, i32 0)
  %more = icmp ult i32 %next, %rounds
  br i1 %more, label %loop, label %end
end:
  %kept = phi float [ %w, %loop ]
  %a = atomicrmw fadd ptr %x, float %kept monotonic
  %b = atomicrmw fadd ptr %shared, float %kept monotonic
  ret void
}

; A barrier that counts adds up over the threads, and bytes of dynamic shared memory come from the launch.
; CHECK-LABEL: define internal void @votes__gradient_split(
; CHECK:         [[AT:%.*]] = getelementptr inbounds i8, ptr %0, i64 24
; CHECK-NEXT:    [[BYTES:%.*]] = load i64, ptr [[AT]]
; CHECK-NEXT:    [[NARROW:%.*]] = trunc i64 [[BYTES]] to i32
; CHECK-NEXT:    [[BOTH:%.*]] = shl i32 [[NARROW]], 1
; CHECK:         [[HOLDS:%.*]] = icmp ne i32 {{%.*}}, 0
; CHECK:         load i32, ptr %count
; CHECK:         [[ONES:%.*]] = load i32, ptr %count
; CHECK:         [[ALL:%.*]] = icmp eq i32 [[ONES]], {{%.*}}
; CHECK:         ret void
define internal void @votes__gradient_each(ptr %launch, ptr %args, ptr %shared, ptr %handle, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz) {
entry:
  %bytes = call i32 @adgen_dynamic_bytes(ptr %handle)
  br label %loop
loop:
  %mine = call i32 @adgen_barrier_and(ptr %handle, i32 0, i32 0, i32 %tx)
  %again = icmp eq i32 %mine, %bytes
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-NOT: @some__primal_split
define internal void @some__primal_each(ptr %launch, ptr %args, ptr %shared, ptr %handle, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz) {
entry:
  %few = icmp ult i32 %tx, 7
  br i1 %few, label %wait, label %end
wait:
  call void @adgen_barrier(ptr %handle, i32 0, i32 0)
  br label %end
end:
  ret void
}

; CHECK-NOT: @warp__primal_split
define internal void @warp__primal_each(ptr %launch, ptr %args, ptr %shared, ptr %handle, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz) {
  call void @adgen_barrier(ptr %handle, i32 0, i32 0)
  %w = call i64 @adgen_warp_barrier(ptr %handle, i32 -1, i64 0, i32 0, i32 0)
  ret void
}
