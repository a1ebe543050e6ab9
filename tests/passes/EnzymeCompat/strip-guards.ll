; What was put in for Enzyme alone is taken out: opaque conditions, the claim that the pointer to a growing cache stays the same, and
; that a number of iterations did not wrap.
;
; RUN: %opt -passes=adgen-strip-guards -S %s | %filecheck %s

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

!0 = !{}
