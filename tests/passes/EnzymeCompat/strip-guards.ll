; What was put in for Enzyme alone is taken out: opaque conditions, the claim that the pointer to a growing cache stays the same, and
; that a number of iterations did not wrap.
;
; RUN: %opt -passes='adgen-strip-guards,function(adce)' -S %s | %filecheck %s

; CHECK-LABEL: define double @f(
; CHECK-NEXT:    %cache = load ptr, ptr %slot, align 8{{$}}
; CHECK-NEXT:    %v = load double, ptr %cache
; CHECK-NEXT:    %r = select i1 %c, double %v, double 0.0
define double @f(ptr %slot, i1 %c) {
  %cache = load ptr, ptr %slot, align 8, !invariant.group !0
  %guard = call i1 @adgen_opaque(i1 %c)
  %v = load double, ptr %cache
  %r = select i1 %guard, double %v, double 0.0
  ret double %r
}

; CHECK-LABEL: define i64 @down(
; CHECK-NEXT:    %last = add i64 %limit, -1
; CHECK-NEXT:    %count = add nuw i64 %last, 1
define i64 @down(i64 %limit) {
  %last = add nuw i64 %limit, -1
  %count = add nuw i64 %last, 1
  ret i64 %count
}

; CHECK-NOT: @adgen_opaque
declare i1 @adgen_opaque(i1)

; Derivatives of what was put in are inlined, with more directions at once, too: what is kept for an argument is not read.
; CHECK-LABEL: define double @held(
; CHECK-NOT:     load
; CHECK-NOT:     call
; CHECK:         ret double
define double @held(ptr %kept, double %cotangent) {
  %v = load double, ptr %kept
  %r = call { double } @adgen_hold_ieee64_reverse(double %v, double %cotangent)
  %d = extractvalue { double } %r, 0
  ret double %d
}

; What registers a derivative is no call of it.
@registered = global ptr @adgen_hold_ieee64_forward.beside

; CHECK-LABEL: define { double, <2 x double> } @beside(
; CHECK-NOT:     call
; CHECK:         ret
define { double, <2 x double> } @beside(double %v, <2 x double> %tangents) {
  %r = call { double, <2 x double> } @adgen_hold_ieee64_forward.beside(double %v, <2 x double> %tangents)
  ret { double, <2 x double> } %r
}

define internal { double } @adgen_hold_ieee64_reverse(double %v, double %cotangent) noinline nounwind {
  %r = insertvalue { double } poison, double %cotangent, 0
  ret { double } %r
}

define internal { double, <2 x double> } @adgen_hold_ieee64_forward.beside(double %v, <2 x double> %tangents) noinline nounwind {
  %held = call double @adgen_hold_ieee64(double %v)
  %first = insertvalue { double, <2 x double> } poison, double %held, 0
  %r = insertvalue { double, <2 x double> } %first, <2 x double> %tangents, 1
  ret { double, <2 x double> } %r
}

declare double @adgen_hold_ieee64(double)

!0 = !{}
