; What a team may call through a pointer adds to shadows by atomics, also a vector and in what it calls itself; not to its own variables, not forward, and nothing else does.
;
; RUN: %opt -passes=adgen-add-atomically -S %s | %filecheck %s

%ident = type { i32 }
@here = constant %ident zeroinitializer
@table = internal constant [1 x ptr] [ptr @diffemethod]

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

define void @forks(ptr %d_x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @here, i32 1, ptr @started, ptr %d_x)
  call void @diffealone(ptr %d_x, double 1.0)
  ret void
}

define internal void @started(ptr %id, ptr %bound, ptr %d_x) {
  %f = load ptr, ptr @table
  call void %f(ptr %d_x, double 1.0, <2 x double> splat (double 1.0))
  ret void
}

; CHECK-LABEL: define internal void @diffemethod(
; CHECK:         %forward = fadd double %old, %v
; CHECK-NEXT:    store double %forward, ptr %d_x
; CHECK:       invertentry:
; CHECK:         store double %own, ptr %local
; CHECK:         atomicrmw fadd ptr %d_x, double %v monotonic, align 8
; CHECK:         [[FIRST:%.*]] = extractelement <2 x double> %both, i64 0
; CHECK-NEXT:    atomicrmw fadd ptr %{{.*}}, double [[FIRST]] monotonic, align 16
; CHECK:         [[SECOND:%.*]] = extractelement <2 x double> %both, i64 1
; CHECK-NEXT:    atomicrmw fadd ptr %{{.*}}, double [[SECOND]] monotonic, align 8
define internal void @diffemethod(ptr %d_x, double %v, <2 x double> %both) {
entry:
  %local = alloca double
  %old = load double, ptr %d_x
  %forward = fadd double %old, %v
  store double %forward, ptr %d_x
  br label %invertentry
invertentry:
  %mine = load double, ptr %local
  %own = fadd double %mine, %v
  store double %own, ptr %local
  %was = load double, ptr %d_x
  %sum = fadd fast double %v, %was
  store double %sum, ptr %d_x, align 8
  %were = load <2 x double>, ptr %d_x
  %sums = fadd <2 x double> %were, %both
  store <2 x double> %sums, ptr %d_x, align 16
  call void @diffecalled(ptr %d_x, double %v)
  ret void
}

; CHECK-LABEL: define internal void @diffecalled(
; CHECK:         atomicrmw fadd
define internal void @diffecalled(ptr %d_x, double %v) {
entry:
  br label %invertentry
invertentry:
  %was = load double, ptr %d_x
  %sum = fadd double %was, %v
  store double %sum, ptr %d_x
  ret void
}

; CHECK-LABEL: define internal void @diffealone(
; CHECK-NOT:     atomicrmw
define internal void @diffealone(ptr %d_x, double %v) {
entry:
  br label %invertentry
invertentry:
  %was = load double, ptr %d_x
  %sum = fadd double %was, %v
  store double %sum, ptr %d_x
  ret void
}
