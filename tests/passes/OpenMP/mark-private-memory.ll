; Additions into memory that a region has allocated and whose address stays there are plain; it is told apart from other memory. Where the
; address is stored or handed on, another thread may add too. What the thread has consumed before is its own, unless threads wait for each other.
;
; RUN: %opt -passes='adgen-mark-private-memory' -S %s | %filecheck %s

; CHECK-LABEL: define void @diffeadgen_region_f(
; CHECK:         load double, ptr %own, align 8, !alias.scope ![[OWN:[0-9]+]]
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double %{{.*}}, ptr %own, align 8, !alias.scope ![[OWN]]
; CHECK-NEXT:    atomicrmw fadd ptr %stored, double %v monotonic, align 8, !noalias ![[OWN]]
; CHECK-NEXT:    atomicrmw fadd ptr %shadow, double %v monotonic, align 8, !noalias ![[OWN]]
define void @diffeadgen_region_f(ptr %shadow, double %v, ptr %place) {
  %own = call noalias ptr @_Znwm(i64 8)
  %stored = call noalias ptr @_Znwm(i64 8)
  store ptr %stored, ptr %place
  %a = atomicrmw fadd ptr %own, double %v monotonic, align 8
  %b = atomicrmw fadd ptr %stored, double %v monotonic, align 8
  %c = atomicrmw fadd ptr %shadow, double %v monotonic, align 8
  call void @_ZdlPv(ptr %own)
  ret void
}

; Nothing is allocated on one way.
; CHECK-LABEL: define void @diffeadgen_region_g(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define void @diffeadgen_region_g(i1 %any, double %v) {
entry:
  br i1 %any, label %some, label %join
some:
  %own = call noalias ptr @_Znwm(i64 8)
  br label %join
join:
  %memory = phi ptr [ null, %entry ], [ %own, %some ]
  br i1 %any, label %add, label %end
add:
  %a = atomicrmw fadd ptr %memory, double %v monotonic, align 8
  br label %end
end:
  ret void
}

; Before it is differentiated, memory is told apart too, also where it was not allocated on every way.
; CHECK-LABEL: define void @adgen_iteration_0(
; CHECK:         store double %v, ptr %one, align 8, !alias.scope ![[ONE:[0-9]+]], !noalias ![[TWO:[0-9]+]]
; CHECK-NEXT:    load double, ptr %two, align 8, !alias.scope ![[TWO]], !noalias ![[ONE]]
define void @adgen_iteration_0(i1 %any, double %v) {
entry:
  br i1 %any, label %some, label %join
some:
  %first = call noalias ptr @_Znwm(i64 8)
  %second = call noalias ptr @_Znwm(i64 8)
  br label %join
join:
  %one = phi ptr [ null, %entry ], [ %first, %some ]
  %two = phi ptr [ null, %entry ], [ %second, %some ]
  store double %v, ptr %one
  %read = load double, ptr %two
  ret void
}

; CHECK-LABEL: define void @diffeadgen_region_consumed(
; CHECK:         store double 0.000000e+00, ptr %mine
; CHECK-NEXT:    load double, ptr %mine
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double %{{.*}}, ptr %mine
; CHECK-NEXT:    atomicrmw fadd ptr %other
define void @diffeadgen_region_consumed(ptr %shadow, i64 %i, double %v) {
  %mine = getelementptr double, ptr %shadow, i64 %i
  %other = getelementptr double, ptr %mine, i64 1
  %cotangent = load double, ptr %mine
  store double 0.0, ptr %mine
  %a = atomicrmw fadd ptr %mine, double %cotangent monotonic, align 8
  %b = atomicrmw fadd ptr %other, double %v monotonic, align 8
  store double 0.0, ptr %other
  ret void
}

; CHECK-LABEL: define void @diffeadgen_region_waits(
; CHECK:         atomicrmw fadd ptr %shadow
define void @diffeadgen_region_waits(ptr %shadow, double %v) {
  store double 0.0, ptr %shadow
  call void @adgen_rule_omp_barrier_reverse(ptr null, ptr null)
  %a = atomicrmw fadd ptr %shadow, double %v monotonic, align 8
  ret void
}

declare void @adgen_rule_omp_barrier_reverse(ptr, ptr)
declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)

; Shadows overlap nothing of the primal; what comes from elsewhere may lead to either.
; CHECK-LABEL: define void @diffeadgen_region_s(
; CHECK:         load double, ptr %x, align 8, !noalias ![[SHADOWS:[0-9]+]]
; CHECK-NEXT:    load double, ptr %"x'", align 8, !alias.scope ![[SHADOWS]]
; CHECK-NEXT:    atomicrmw fadd ptr %"x'", double %v monotonic, align 8, !alias.scope ![[SHADOWS]]
; CHECK-NEXT:    load ptr, ptr %list, align 8, !noalias ![[SHADOWS]]
; CHECK-NEXT:    load double, ptr %far, align 8{{$}}
define void @diffeadgen_region_s(ptr %x, ptr %"x'", ptr %list) {
  %v = load double, ptr %x
  %c = load double, ptr %"x'"
  %a = atomicrmw fadd ptr %"x'", double %v monotonic, align 8
  %far = load ptr, ptr %list
  %again = load double, ptr %far
  ret void
}

; What a forward sweep of its own has only cleared and handed over, the shadow of a local variable, is a local variable of the reverse sweep. Not what the forward
; sweep has filled.
; CHECK-LABEL: define void @diffeadgen_region_two(
; CHECK-NEXT:    %[[LOCAL:.*]] = alloca [8 x i8], align 16
; CHECK-NEXT:    call void @llvm.memset.p0.i64(ptr align 16 %[[LOCAL]], i8 0, i64 8, i1 false)
; CHECK-NEXT:    %shadow = extractvalue { ptr, ptr } %tape, 0
; CHECK-NEXT:    %filled = extractvalue { ptr, ptr } %tape, 1
; CHECK-NOT:     atomicrmw fadd ptr %[[LOCAL]]
; CHECK:         store double %{{.*}}, ptr %[[LOCAL]]
; CHECK:         atomicrmw fadd ptr %filled
; CHECK:         call void @free(ptr %shadow)
define void @diffeadgen_region_two(double %v, { ptr, ptr } %tape) {
  %shadow = extractvalue { ptr, ptr } %tape, 0
  %filled = extractvalue { ptr, ptr } %tape, 1
  %a = atomicrmw fadd ptr %shadow, double %v monotonic, align 8
  %b = atomicrmw fadd ptr %filled, double %v monotonic, align 8
  call void @free(ptr %shadow)
  ret void
}

define { ptr, ptr } @augmented_adgen_region_two(double %v) {
  %shadow = call noalias ptr @malloc(i64 8)
  store i64 0, ptr %shadow
  %filled = call noalias ptr @malloc(i64 8)
  store double %v, ptr %filled
  %one = insertvalue { ptr, ptr } poison, ptr %shadow, 0
  %both = insertvalue { ptr, ptr } %one, ptr %filled, 1
  ret { ptr, ptr } %both
}

; Pointers that the forward sweep has kept for the reverse sweep stay what they are, whatever is added to where they lead. Not what something else is done with, or
; what is not given back here.
; CHECK-LABEL: define void @diffeadgen_region_rows(
; CHECK:         %row = load ptr, ptr %at, align 8, !alias.scope ![[KEPT:[0-9]+]]
; CHECK-NEXT:    %other = load ptr, ptr %shared, align 8, !noalias ![[KEPT]]
; CHECK-NEXT:    %third = load ptr, ptr %written, align 8, !noalias ![[KEPT]]
; CHECK-NEXT:    atomicrmw fadd ptr %row, double %v monotonic, align 8, !noalias ![[KEPT]]
; CHECK-NEXT:    store ptr %row, ptr %written, align 8, !noalias ![[KEPT]]
define void @diffeadgen_region_rows(double %v, i64 %i, { ptr, ptr, ptr } %tape) {
  %kept = extractvalue { ptr, ptr, ptr } %tape, 0
  %shared = extractvalue { ptr, ptr, ptr } %tape, 1
  %written = extractvalue { ptr, ptr, ptr } %tape, 2
  %at = getelementptr ptr, ptr %kept, i64 %i
  %row = load ptr, ptr %at, align 8
  %other = load ptr, ptr %shared, align 8
  %third = load ptr, ptr %written, align 8
  %a = atomicrmw fadd ptr %row, double %v monotonic, align 8
  store ptr %row, ptr %written, align 8
  call void @free(ptr %kept)
  call void @free(ptr %written)
  ret void
}

declare noalias ptr @malloc(i64)
declare void @free(ptr)
