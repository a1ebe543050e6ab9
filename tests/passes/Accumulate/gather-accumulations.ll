; In a square block, a thread adds up what all threads of its row or column would add to one element of a shared shadow.
;
; RUN: %opt -passes=adgen-gather-accumulations -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [4 x [4 x float]] undef
@long = internal addrspace(3) global [9 x [9 x float]] undef
@matrix = internal addrspace(3) global [5 x [5 x double]] undef
@layers = internal addrspace(3) global [2 x [5 x [5 x double]]] undef
@dynamic = external addrspace(3) global [0 x float]

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()

; CHECK: @adgen_exchange_{{.*}} = internal addrspace(3) global [16 x float] undef

; The number that stays the same in the loop is handed over before it, between barriers; in the loop the barriers that are there suffice.
; Thread (x, y) adds up what the threads (j, y) add to element x of row y. Elsewhere the accumulations are what they were.
; CHECK-LABEL: define void @rows(
; CHECK:         %square = and i1
; CHECK:         br i1 %square, label %[[OUTSIDE:.*]], label
; CHECK:       [[OUTSIDE]]:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float %d, ptr addrspace(3)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:       loop:
; CHECK:         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         br i1 %square, label %gather, label %scatter
; CHECK:       gather:
; CHECK-NEXT:    [[SKEW:%.*]] = lshr i32 {{%.*}}, 3
; CHECK-NEXT:    [[TURN:%.*]] = add i32 0, [[SKEW]]
; CHECK-NEXT:    [[VECTOR:%.*]] = and i32 [[TURN]], 0
; CHECK-NEXT:    [[FIRST:%.*]] = mul nuw nsw i32 [[VECTOR]], 4
; CHECK:         [[D:%.*]] = load <4 x float>, ptr addrspace(3) {{.*}}, align 16
; CHECK:         [[V:%.*]] = load <4 x float>, ptr {{.*}}, align 16
; CHECK:         [[D0:%.*]] = extractelement <4 x float> [[D]], i64 0
; CHECK-NEXT:    [[V0:%.*]] = extractelement <4 x float> [[V]], i64 0
; CHECK-NEXT:    fmul contract float [[D0]], [[V0]]
; CHECK:         extractelement <4 x float> [[V]], i64 3
; CHECK-NOT:     call void @llvm.nvvm.barrier
; CHECK-NOT:     atomicrmw
; CHECK:         store float
; CHECK:       scatter:
; CHECK:         [[OWN:%.*]] = fmul contract float %d,
; CHECK-NEXT:    atomicrmw fadd ptr {{%.*}}, float [[OWN]] monotonic
; CHECK-COUNT-3: atomicrmw
; CHECK-NOT:     atomicrmw
; CHECK:       end:
define void @rows(float %v, i32 %n, ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated:const" "adgen-shared"="tile" {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  %row = zext i32 %y to i64
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %w.0 = getelementptr float, ptr %array, i64 %column
  %w.1 = getelementptr i8, ptr %w.0, i64 16
  %w.2 = getelementptr i8, ptr %w.0, i64 32
  %w.3 = getelementptr i8, ptr %w.0, i64 48
  %l.0 = load float, ptr %w.0
  %l.1 = load float, ptr %w.1
  %l.2 = load float, ptr %w.2
  %l.3 = load float, ptr %w.3
  %v.0 = fmul contract float %d, %l.0
  %v.1 = fmul contract float %d, %l.1
  %v.2 = fmul contract float %d, %l.2
  %v.3 = fmul contract float %d, %l.3
  %e.0 = getelementptr [4 x float], ptr %shadow, i64 %row
  %e.1 = getelementptr i8, ptr %e.0, i64 4
  %e.2 = getelementptr i8, ptr %e.0, i64 8
  %e.3 = getelementptr i8, ptr %e.0, i64 12
  %1 = atomicrmw fadd ptr %e.3, float %v.3 monotonic
  %2 = atomicrmw fadd ptr %e.2, float %v.2 monotonic
  %3 = atomicrmw fadd ptr %e.1, float %v.1 monotonic
  %4 = atomicrmw fadd ptr %e.0, float %v.0 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %k, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}


; The array held something else when it was read: each thread puts back what it had stored, into a copy of the array, in blocks of any
; shape. Indices that are made wide only behind a sum lie side by side.
; CHECK-LABEL: define void @filled_twice(
; CHECK:       gather:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float %d, ptr addrspace(3)
; CHECK:         [[COPY:%.*]] = getelementptr i8, ptr addrspace(3) @[[NAME:adgen_exchange_.*]], i64
; CHECK-NEXT:    store float %v, ptr addrspace(3) [[COPY]]
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         getelementptr i8, ptr addrspace(3) @[[NAME]], i64
; CHECK-NEXT:    load float
; CHECK:       scatter:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float %v, ptr addrspace(3)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-COUNT-4: atomicrmw fadd
define void @filled_twice(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %base = shl nuw nsw i32 %y, 2
  %at.1 = or disjoint i32 %base, 1
  %at.2 = or disjoint i32 %base, 2
  %at.3 = add nuw nsw i32 %base, 3
  %to = add nuw nsw i32 %base, %x
  %place = zext i32 %to to i64
  %own = getelementptr float, ptr %array, i64 %place
  %theirs = getelementptr float, ptr %d_y, i64 %place
  %v = load float, ptr %theirs
  %w = fneg float %v
  store float %v, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i.0.0 = zext i32 %base to i64
  %p.0.0 = getelementptr float, ptr %array, i64 %i.0.0
  %l.0.0 = load float, ptr %p.0.0
  %i.0.1 = zext i32 %at.1 to i64
  %p.0.1 = getelementptr float, ptr %array, i64 %i.0.1
  %l.0.1 = load float, ptr %p.0.1
  %i.0.2 = zext i32 %at.2 to i64
  %p.0.2 = getelementptr float, ptr %array, i64 %i.0.2
  %l.0.2 = load float, ptr %p.0.2
  %i.0.3 = zext i32 %at.3 to i64
  %p.0.3 = getelementptr float, ptr %array, i64 %i.0.3
  %l.0.3 = load float, ptr %p.0.3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %w, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d = load float, ptr %theirs
  store float 0.0, ptr %theirs
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %v.0 = fmul contract float %d, %l.0.0
  %1 = atomicrmw fadd ptr %e.0, float %v.0 monotonic
  %v.1 = fmul contract float %d, %l.0.1
  %2 = atomicrmw fadd ptr %e.1, float %v.1 monotonic
  %v.2 = fmul contract float %d, %l.0.2
  %3 = atomicrmw fadd ptr %e.2, float %v.2 monotonic
  %v.3 = fmul contract float %d, %l.0.3
  %4 = atomicrmw fadd ptr %e.3, float %v.3 monotonic
  ret void
}

; Elsewhere it was filled in another way, which leaves what was there before.
; CHECK-LABEL: define void @filled_elsewhere(
; CHECK-NOT:   gather:
define void @filled_elsewhere(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %base = shl nuw nsw i32 %y, 2
  %at.1 = or disjoint i32 %base, 1
  %at.2 = or disjoint i32 %base, 2
  %at.3 = add nuw nsw i32 %base, 3
  %to = add nuw nsw i32 %base, %x
  %place = zext i32 %to to i64
  %own = getelementptr float, ptr %array, i64 %place
  %theirs = getelementptr float, ptr %d_y, i64 %place
  %v = load float, ptr %theirs
  %w = fneg float %v
  store float %v, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i.0.0 = zext i32 %base to i64
  %p.0.0 = getelementptr float, ptr %array, i64 %i.0.0
  %l.0.0 = load float, ptr %p.0.0
  %i.0.1 = zext i32 %at.1 to i64
  %p.0.1 = getelementptr float, ptr %array, i64 %i.0.1
  %l.0.1 = load float, ptr %p.0.1
  %i.0.2 = zext i32 %at.2 to i64
  %p.0.2 = getelementptr float, ptr %array, i64 %i.0.2
  %l.0.2 = load float, ptr %p.0.2
  %i.0.3 = zext i32 %at.3 to i64
  %p.0.3 = getelementptr float, ptr %array, i64 %i.0.3
  %l.0.3 = load float, ptr %p.0.3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %w, ptr %array
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d = load float, ptr %theirs
  store float 0.0, ptr %theirs
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %v.0 = fmul contract float %d, %l.0.0
  %1 = atomicrmw fadd ptr %e.0, float %v.0 monotonic
  %v.1 = fmul contract float %d, %l.0.1
  %2 = atomicrmw fadd ptr %e.1, float %v.1 monotonic
  %v.2 = fmul contract float %d, %l.0.2
  %3 = atomicrmw fadd ptr %e.2, float %v.2 monotonic
  %v.3 = fmul contract float %d, %l.0.3
  %4 = atomicrmw fadd ptr %e.3, float %v.3 monotonic
  ret void
}

; It has held two things: of an array there is one copy.
; CHECK-LABEL: define void @filled_three_times(
; CHECK-NOT:   gather:
define void @filled_three_times(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %base = shl nuw nsw i32 %y, 2
  %at.1 = or disjoint i32 %base, 1
  %at.2 = or disjoint i32 %base, 2
  %at.3 = add nuw nsw i32 %base, 3
  %to = add nuw nsw i32 %base, %x
  %place = zext i32 %to to i64
  %own = getelementptr float, ptr %array, i64 %place
  %theirs = getelementptr float, ptr %d_y, i64 %place
  %v = load float, ptr %theirs
  %w = fneg float %v
  store float %v, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i.0.0 = zext i32 %base to i64
  %p.0.0 = getelementptr float, ptr %array, i64 %i.0.0
  %l.0.0 = load float, ptr %p.0.0
  %i.0.1 = zext i32 %at.1 to i64
  %p.0.1 = getelementptr float, ptr %array, i64 %i.0.1
  %l.0.1 = load float, ptr %p.0.1
  %i.0.2 = zext i32 %at.2 to i64
  %p.0.2 = getelementptr float, ptr %array, i64 %i.0.2
  %l.0.2 = load float, ptr %p.0.2
  %i.0.3 = zext i32 %at.3 to i64
  %p.0.3 = getelementptr float, ptr %array, i64 %i.0.3
  %l.0.3 = load float, ptr %p.0.3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %w, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %m.0.0 = load float, ptr %p.0.0
  %m.0.1 = load float, ptr %p.0.1
  %m.0.2 = load float, ptr %p.0.2
  %m.0.3 = load float, ptr %p.0.3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d = load float, ptr %theirs
  store float 0.0, ptr %theirs
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %u.0 = fmul contract float %d, %l.0.0
  %v.0 = fmul contract float %u.0, %m.0.0
  %1 = atomicrmw fadd ptr %e.0, float %v.0 monotonic
  %u.1 = fmul contract float %d, %l.0.1
  %v.1 = fmul contract float %u.1, %m.0.1
  %2 = atomicrmw fadd ptr %e.1, float %v.1 monotonic
  %u.2 = fmul contract float %d, %l.0.2
  %v.2 = fmul contract float %u.2, %m.0.2
  %3 = atomicrmw fadd ptr %e.2, float %v.2 monotonic
  %u.3 = fmul contract float %d, %l.0.3
  %v.3 = fmul contract float %u.3, %m.0.3
  %4 = atomicrmw fadd ptr %e.3, float %v.3 monotonic
  ret void
}

; Nobody waits between the store and the loads: what they read may be older.
; CHECK-LABEL: define void @filled_without_waiting(
; CHECK-NOT:   gather:
define void @filled_without_waiting(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %base = shl nuw nsw i32 %y, 2
  %at.1 = or disjoint i32 %base, 1
  %at.2 = or disjoint i32 %base, 2
  %at.3 = add nuw nsw i32 %base, 3
  %to = add nuw nsw i32 %base, %x
  %place = zext i32 %to to i64
  %own = getelementptr float, ptr %array, i64 %place
  %theirs = getelementptr float, ptr %d_y, i64 %place
  %v = load float, ptr %theirs
  %w = fneg float %v
  store float %v, ptr %own
  %i.0.0 = zext i32 %base to i64
  %p.0.0 = getelementptr float, ptr %array, i64 %i.0.0
  %l.0.0 = load float, ptr %p.0.0
  %i.0.1 = zext i32 %at.1 to i64
  %p.0.1 = getelementptr float, ptr %array, i64 %i.0.1
  %l.0.1 = load float, ptr %p.0.1
  %i.0.2 = zext i32 %at.2 to i64
  %p.0.2 = getelementptr float, ptr %array, i64 %i.0.2
  %l.0.2 = load float, ptr %p.0.2
  %i.0.3 = zext i32 %at.3 to i64
  %p.0.3 = getelementptr float, ptr %array, i64 %i.0.3
  %l.0.3 = load float, ptr %p.0.3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %w, ptr %own
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d = load float, ptr %theirs
  store float 0.0, ptr %theirs
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %v.0 = fmul contract float %d, %l.0.0
  %1 = atomicrmw fadd ptr %e.0, float %v.0 monotonic
  %v.1 = fmul contract float %d, %l.0.1
  %2 = atomicrmw fadd ptr %e.1, float %v.1 monotonic
  %v.2 = fmul contract float %d, %l.0.2
  %3 = atomicrmw fadd ptr %e.2, float %v.2 monotonic
  %v.3 = fmul contract float %d, %l.0.3
  %4 = atomicrmw fadd ptr %e.3, float %v.3 monotonic
  ret void
}

; What differs in each round is handed over in it. No barrier stands around: all are made.
; CHECK-LABEL: define void @columns(
; CHECK:       gather:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float %d, ptr addrspace(3)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store float
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:       scatter:
; CHECK-COUNT-4: atomicrmw fadd ptr {{%.*}}, float %d monotonic
define void @columns(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = zext i32 %x to i64
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  store float 0.0, ptr %own
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %1 = atomicrmw fadd ptr %e.0, float %d monotonic
  %2 = atomicrmw fadd ptr %e.1, float %d monotonic
  %3 = atomicrmw fadd ptr %e.2, float %d monotonic
  %4 = atomicrmw fadd ptr %e.3, float %d monotonic
  ret void
}

; A row of each of two layers, one behind the other, in a block of 5 x 5: they are told apart by what is added, and no two threads have an
; element in common. The matrix was read long before, and nothing was written to it since.
; CHECK-LABEL: define void @rows_of_layers(
; CHECK:         icmp eq i32 {{%.*}}, 5
; CHECK:       gather:
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK:         store double %d.0, ptr addrspace(3)
; CHECK:         store double %d.1, ptr addrspace(3)
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-COUNT-5: load double, ptr addrspace(3) {{%.*}}, align 8
; CHECK-COUNT-5: load double, ptr addrspace(3) {{%.*}}, align 8
; CHECK-NOT:     atomicrmw
; CHECK-COUNT-2: store double
; CHECK-NOT:     store
; CHECK:       scatter:
; CHECK-COUNT-10: atomicrmw fadd ptr {{%.*}}, double
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @rows_of_layers(ptr "adgen-shadow" %d_y, ptr %matrix, ptr %layers, ptr %none, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="matrix:layers" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  %line = zext i32 %y to i64
  %r.0 = getelementptr i8, ptr %matrix, i64 0
  %c.0 = getelementptr double, ptr %r.0, i64 %column
  %m.0 = load double, ptr %c.0
  %r.1 = getelementptr i8, ptr %matrix, i64 40
  %c.1 = getelementptr double, ptr %r.1, i64 %column
  %m.1 = load double, ptr %c.1
  %r.2 = getelementptr i8, ptr %matrix, i64 80
  %c.2 = getelementptr double, ptr %r.2, i64 %column
  %m.2 = load double, ptr %c.2
  %r.3 = getelementptr i8, ptr %matrix, i64 120
  %c.3 = getelementptr double, ptr %r.3, i64 %column
  %m.3 = load double, ptr %c.3
  %r.4 = getelementptr i8, ptr %matrix, i64 160
  %c.4 = getelementptr double, ptr %r.4, i64 %column
  %m.4 = load double, ptr %c.4
  %own = getelementptr double, ptr %d_y, i64 %column
  %d.0 = load double, ptr %own
  store double 0.0, ptr %own
  %own.1 = getelementptr i8, ptr %own, i64 200
  %d.1 = load double, ptr %own.1
  %row = getelementptr [5 x double], ptr %shadow, i64 %line
  %v.0.0 = fmul nsz contract double %d.0, %m.0
  %e.0.0 = getelementptr i8, ptr %row, i64 0
  %a.0.0 = atomicrmw fadd ptr %e.0.0, double %v.0.0 monotonic
  %v.0.1 = fmul nsz contract double %d.0, %m.1
  %e.0.1 = getelementptr i8, ptr %row, i64 8
  %a.0.1 = atomicrmw fadd ptr %e.0.1, double %v.0.1 monotonic
  %v.0.2 = fmul nsz contract double %d.0, %m.2
  %e.0.2 = getelementptr i8, ptr %row, i64 16
  %a.0.2 = atomicrmw fadd ptr %e.0.2, double %v.0.2 monotonic
  %v.0.3 = fmul nsz contract double %d.0, %m.3
  %e.0.3 = getelementptr i8, ptr %row, i64 24
  %a.0.3 = atomicrmw fadd ptr %e.0.3, double %v.0.3 monotonic
  %v.0.4 = fmul nsz contract double %d.0, %m.4
  %e.0.4 = getelementptr i8, ptr %row, i64 32
  %a.0.4 = atomicrmw fadd ptr %e.0.4, double %v.0.4 monotonic
  %v.1.0 = fmul nsz contract double %d.1, %m.0
  %e.1.0 = getelementptr i8, ptr %row, i64 200
  %a.1.0 = atomicrmw fadd ptr %e.1.0, double %v.1.0 monotonic
  %v.1.1 = fmul nsz contract double %d.1, %m.1
  %e.1.1 = getelementptr i8, ptr %row, i64 208
  %a.1.1 = atomicrmw fadd ptr %e.1.1, double %v.1.1 monotonic
  %v.1.2 = fmul nsz contract double %d.1, %m.2
  %e.1.2 = getelementptr i8, ptr %row, i64 216
  %a.1.2 = atomicrmw fadd ptr %e.1.2, double %v.1.2 monotonic
  %v.1.3 = fmul nsz contract double %d.1, %m.3
  %e.1.3 = getelementptr i8, ptr %row, i64 224
  %a.1.3 = atomicrmw fadd ptr %e.1.3, double %v.1.3 monotonic
  %v.1.4 = fmul nsz contract double %d.1, %m.4
  %e.1.4 = getelementptr i8, ptr %row, i64 232
  %a.1.4 = atomicrmw fadd ptr %e.1.4, double %v.1.4 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; The same where the matrix may have been written to since it was read.
; CHECK-LABEL: define void @written(
; CHECK-NOT:     gather
; CHECK-COUNT-10: atomicrmw fadd ptr
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @written(ptr "adgen-shadow" %d_y, ptr %matrix, ptr %layers, ptr %none, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="matrix:layers" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext i32 %x to i64
  %line = zext i32 %y to i64
  %r.0 = getelementptr i8, ptr %matrix, i64 0
  %c.0 = getelementptr double, ptr %r.0, i64 %column
  %m.0 = load double, ptr %c.0
  %r.1 = getelementptr i8, ptr %matrix, i64 40
  %c.1 = getelementptr double, ptr %r.1, i64 %column
  %m.1 = load double, ptr %c.1
  %r.2 = getelementptr i8, ptr %matrix, i64 80
  %c.2 = getelementptr double, ptr %r.2, i64 %column
  %m.2 = load double, ptr %c.2
  %r.3 = getelementptr i8, ptr %matrix, i64 120
  %c.3 = getelementptr double, ptr %r.3, i64 %column
  %m.3 = load double, ptr %c.3
  %r.4 = getelementptr i8, ptr %matrix, i64 160
  %c.4 = getelementptr double, ptr %r.4, i64 %column
  %m.4 = load double, ptr %c.4
  %own = getelementptr double, ptr %d_y, i64 %column
  %d.0 = load double, ptr %own
  store double 0.0, ptr %own
  %own.1 = getelementptr i8, ptr %own, i64 200
  %d.1 = load double, ptr %own.1
  store double %d.0, ptr %layers
  %place = getelementptr double, ptr %matrix, i64 %line
  store double %d.0, ptr %place
  %row = getelementptr [5 x double], ptr %shadow, i64 %line
  %v.0.0 = fmul nsz contract double %d.0, %m.0
  %e.0.0 = getelementptr i8, ptr %row, i64 0
  %a.0.0 = atomicrmw fadd ptr %e.0.0, double %v.0.0 monotonic
  %v.0.1 = fmul nsz contract double %d.0, %m.1
  %e.0.1 = getelementptr i8, ptr %row, i64 8
  %a.0.1 = atomicrmw fadd ptr %e.0.1, double %v.0.1 monotonic
  %v.0.2 = fmul nsz contract double %d.0, %m.2
  %e.0.2 = getelementptr i8, ptr %row, i64 16
  %a.0.2 = atomicrmw fadd ptr %e.0.2, double %v.0.2 monotonic
  %v.0.3 = fmul nsz contract double %d.0, %m.3
  %e.0.3 = getelementptr i8, ptr %row, i64 24
  %a.0.3 = atomicrmw fadd ptr %e.0.3, double %v.0.3 monotonic
  %v.0.4 = fmul nsz contract double %d.0, %m.4
  %e.0.4 = getelementptr i8, ptr %row, i64 32
  %a.0.4 = atomicrmw fadd ptr %e.0.4, double %v.0.4 monotonic
  %v.1.0 = fmul nsz contract double %d.1, %m.0
  %e.1.0 = getelementptr i8, ptr %row, i64 200
  %a.1.0 = atomicrmw fadd ptr %e.1.0, double %v.1.0 monotonic
  %v.1.1 = fmul nsz contract double %d.1, %m.1
  %e.1.1 = getelementptr i8, ptr %row, i64 208
  %a.1.1 = atomicrmw fadd ptr %e.1.1, double %v.1.1 monotonic
  %v.1.2 = fmul nsz contract double %d.1, %m.2
  %e.1.2 = getelementptr i8, ptr %row, i64 216
  %a.1.2 = atomicrmw fadd ptr %e.1.2, double %v.1.2 monotonic
  %v.1.3 = fmul nsz contract double %d.1, %m.3
  %e.1.3 = getelementptr i8, ptr %row, i64 224
  %a.1.3 = atomicrmw fadd ptr %e.1.3, double %v.1.3 monotonic
  %v.1.4 = fmul nsz contract double %d.1, %m.4
  %e.1.4 = getelementptr i8, ptr %row, i64 232
  %a.1.4 = atomicrmw fadd ptr %e.1.4, double %v.1.4 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Of many elements, one after the other is added up in a loop.
; CHECK-LABEL: define void @long_columns(
; CHECK:       gather.add:
; CHECK:         [[STEP:%.*]] = phi i32 [ 0, %gather ]
; CHECK:         fadd
; CHECK:       gather.add.done:
; CHECK:         store float
; CHECK:       scatter.add:
; CHECK:         [[ELEMENT:%.*]] = phi i32 [ 0, %scatter ]
; CHECK:         atomicrmw fadd ptr {{%.*}}, float %d monotonic
; CHECK-NOT:     atomicrmw
define void @long_columns(ptr "adgen-shadow" %d_y, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="duplicated" "adgen-shared"="long" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = zext i32 %x to i64
  %own = getelementptr float, ptr %d_y, i64 %column
  %d = load float, ptr %own
  %first = getelementptr float, ptr %shadow, i64 %column
  %e.0 = getelementptr i8, ptr %first, i64 0
  %a.0 = atomicrmw fadd ptr %e.0, float %d monotonic
  %e.1 = getelementptr i8, ptr %first, i64 36
  %a.1 = atomicrmw fadd ptr %e.1, float %d monotonic
  %e.2 = getelementptr i8, ptr %first, i64 72
  %a.2 = atomicrmw fadd ptr %e.2, float %d monotonic
  %e.3 = getelementptr i8, ptr %first, i64 108
  %a.3 = atomicrmw fadd ptr %e.3, float %d monotonic
  %e.4 = getelementptr i8, ptr %first, i64 144
  %a.4 = atomicrmw fadd ptr %e.4, float %d monotonic
  %e.5 = getelementptr i8, ptr %first, i64 180
  %a.5 = atomicrmw fadd ptr %e.5, float %d monotonic
  %e.6 = getelementptr i8, ptr %first, i64 216
  %a.6 = atomicrmw fadd ptr %e.6, float %d monotonic
  %e.7 = getelementptr i8, ptr %first, i64 252
  %a.7 = atomicrmw fadd ptr %e.7, float %d monotonic
  %e.8 = getelementptr i8, ptr %first, i64 288
  %a.8 = atomicrmw fadd ptr %e.8, float %d monotonic
  ret void
}
; Some threads only come there, so that barriers are not possible.
; CHECK-LABEL: define void @not_by_all(
; CHECK-NOT:     gather
; CHECK-COUNT-4: atomicrmw fadd ptr
; CHECK-NOT:     atomicrmw
define void @not_by_all(float %d, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %x, 0
  br i1 %first, label %some, label %end
some:
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %1 = atomicrmw fadd ptr %e.0, float %d monotonic
  %2 = atomicrmw fadd ptr %e.1, float %d monotonic
  %3 = atomicrmw fadd ptr %e.2, float %d monotonic
  %4 = atomicrmw fadd ptr %e.3, float %d monotonic
  br label %end
end:
  ret void
}

; Elements with gaps, an index that was read, dynamic shared memory, whose arrays may overlap.
; CHECK-LABEL: define void @gaps(
; CHECK-NOT:     gather
; CHECK-LABEL: define void @by_index(
; CHECK-NOT:     gather
; CHECK-LABEL: define void @of_dynamic_size(
; CHECK-NOT:     gather
; CHECK:         ret void
define void @gaps(float %d, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 60
  %1 = atomicrmw fadd ptr %e.0, float %d monotonic
  %2 = atomicrmw fadd ptr %e.1, float %d monotonic
  %3 = atomicrmw fadd ptr %e.2, float %d monotonic
  %4 = atomicrmw fadd ptr %e.3, float %d monotonic
  ret void
}
define void @by_index(float %d, ptr %index, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="const:const" "adgen-shared"="tile" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = zext i32 %x to i64
  %where = getelementptr i64, ptr %index, i64 %own
  %column = load i64, ptr %where
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %1 = atomicrmw fadd ptr %e.0, float %d monotonic
  %2 = atomicrmw fadd ptr %e.1, float %d monotonic
  %3 = atomicrmw fadd ptr %e.2, float %d monotonic
  %4 = atomicrmw fadd ptr %e.3, float %d monotonic
  ret void
}
define void @of_dynamic_size(float %d, ptr %array, ptr "adgen-shared-shadow" %shadow) "adgen-activity"="const" "adgen-shared"="dynamic" {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = zext i32 %x to i64
  %e.0 = getelementptr float, ptr %shadow, i64 %column
  %e.1 = getelementptr i8, ptr %e.0, i64 16
  %e.2 = getelementptr i8, ptr %e.0, i64 32
  %e.3 = getelementptr i8, ptr %e.0, i64 48
  %1 = atomicrmw fadd ptr %e.0, float %d monotonic
  %2 = atomicrmw fadd ptr %e.1, float %d monotonic
  %3 = atomicrmw fadd ptr %e.2, float %d monotonic
  %4 = atomicrmw fadd ptr %e.3, float %d monotonic
  ret void
}
