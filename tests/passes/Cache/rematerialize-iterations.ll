; The forward sweep of an iteration runs right before its reverse sweep, without what it stores outside; in the loop before, the primal runs.
; Where memory that is read is given back before, or an argument is missing, nothing changes.
;
; RUN: %opt -passes='adgen-rematerialize-iterations' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @diffe_f(
; CHECK-NEXT:    call void @adgen_iteration_0(ptr %x, ptr %y)
; CHECK:         %again = call { double } @augmented_adgen_iteration_0(ptr %x, ptr %dx, ptr %y, ptr %dy)
; CHECK-NEXT:    call void @diffeadgen_iteration_0(ptr %x, ptr %dx, ptr %y, ptr %dy, { double } %again)
define void @diffe_f(ptr %x, ptr %dx, ptr %y, ptr %dy, ptr %cache) {
  %tape = call { double } @augmented_adgen_iteration_0(ptr %x, ptr %dx, ptr %y, ptr %dy)
  store { double } %tape, ptr %cache
  %kept = load { double }, ptr %cache
  call void @diffeadgen_iteration_0(ptr %x, ptr %dx, ptr %y, ptr %dy, { double } %kept)
  ret void
}

; CHECK-LABEL: define internal { double } @augmented_adgen_iteration_0(
; CHECK-NOT:     store
; CHECK:         ret
define internal void @adgen_iteration_0(ptr %a, ptr %b) noinline {
  %v = load double, ptr %a
  store double %v, ptr %b, !adgen.effect !0
  ret void
}
define internal { double } @augmented_adgen_iteration_0(ptr %a, ptr %"a'", ptr %b, ptr %"b'") noinline {
  %v = load double, ptr %a
  store double %v, ptr %b, !adgen.effect !0
  %tape = insertvalue { double } poison, double %v, 0
  ret { double } %tape
}
define internal void @diffeadgen_iteration_0(ptr %a, ptr %"a'", ptr %b, ptr %"b'", { double } %tape) noinline {
  ret void
}

; CHECK-LABEL: define void @diffe_g(
; CHECK-NEXT:    %memory = call noalias ptr @_Znwm(i64 8)
; CHECK-NEXT:    %tape = call double @augmented_adgen_iteration_1(ptr %memory, ptr %dx)
; CHECK:         call void @diffeadgen_iteration_1(ptr %memory, ptr %dx, double %kept)
define void @diffe_g(ptr %dx, ptr %cache) {
  %memory = call noalias ptr @_Znwm(i64 8)
  %tape = call double @augmented_adgen_iteration_1(ptr %memory, ptr %dx)
  store double %tape, ptr %cache
  call void @_ZdlPv(ptr %memory)
  %kept = load double, ptr %cache
  call void @diffeadgen_iteration_1(ptr %memory, ptr %dx, double %kept)
  ret void
}
define internal void @adgen_iteration_1(ptr %a) noinline {
  ret void
}
define internal double @augmented_adgen_iteration_1(ptr %a, ptr %"a'") noinline {
  %v = load double, ptr %a
  ret double %v
}
define internal void @diffeadgen_iteration_1(ptr %a, ptr %"a'", double %tape) noinline {
  ret void
}

; What is computed for nobody is not run in the loop before.
; CHECK-LABEL: define void @diffe_n(
; CHECK-NOT:     call void @adgen_iteration_3
; CHECK:         %again = call { double } @augmented_adgen_iteration_3(ptr %x, ptr %dx, ptr undef, ptr %dy)
define void @diffe_n(ptr %x, ptr %dx, ptr %dy, ptr %cache) {
  %y = alloca double
  %tape = call { double } @augmented_adgen_iteration_3(ptr %x, ptr %dx, ptr %y, ptr %dy)
  store { double } %tape, ptr %cache
  %kept = load { double }, ptr %cache
  call void @diffeadgen_iteration_3(ptr %x, ptr %dx, ptr undef, ptr %dy, { double } %kept)
  ret void
}
define internal void @adgen_iteration_3(ptr %a, ptr %b) noinline {
  %v = load double, ptr %a
  store double %v, ptr %b, !adgen.effect !0
  ret void
}
define internal { double } @augmented_adgen_iteration_3(ptr %a, ptr %"a'", ptr %b, ptr %"b'") noinline {
  %v = load double, ptr %a
  store double %v, ptr %b, !adgen.effect !0
  %tape = insertvalue { double } poison, double %v, 0
  ret { double } %tape
}
define internal void @diffeadgen_iteration_3(ptr %a, ptr %"a'", ptr %b, ptr %"b'", { double } %tape) noinline {
  ret void
}

; CHECK-LABEL: define void @diffe_h(
; CHECK-NEXT:    %tape = call double @augmented_adgen_iteration_2(ptr %x, ptr %dx)
; CHECK:         call void @diffeadgen_iteration_2(ptr undef, ptr %dx, double %kept)
define void @diffe_h(ptr %x, ptr %dx, ptr %cache) {
  %tape = call double @augmented_adgen_iteration_2(ptr %x, ptr %dx)
  store double %tape, ptr %cache
  %kept = load double, ptr %cache
  call void @diffeadgen_iteration_2(ptr undef, ptr %dx, double %kept)
  ret void
}
define internal void @adgen_iteration_2(ptr %a) noinline {
  ret void
}
define internal double @augmented_adgen_iteration_2(ptr %a, ptr %"a'") noinline {
  %v = load double, ptr %a
  ret double %v
}
define internal void @diffeadgen_iteration_2(ptr %a, ptr %"a'", double %tape) noinline {
  ret void
}

declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)
!0 = !{}
