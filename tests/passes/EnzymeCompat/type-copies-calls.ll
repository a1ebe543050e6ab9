; At a call of mathematics clang's name for what it accesses is that of errno: Enzyme would take its result for an integer.
; RUN: %opt -passes=adgen-type-copies -S %s | %filecheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define double @adgen_body_sine(
; CHECK:         load double, ptr %x, align 8, !tbaa
; CHECK-NEXT:    call double @sin(double %taken){{$}}
define double @adgen_body_sine(ptr %x) {
  %taken = load double, ptr %x, align 8, !tbaa !0
  %sine = call double @sin(double %taken), !tbaa !3
  ret double %sine
}

declare double @sin(double)

!0 = !{!1, !1, i64 0}
!1 = !{!"double", !2, i64 0}
!2 = !{!"omnipotent char", !5, i64 0}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !2, i64 0}
!5 = !{!"Simple C++ TBAA"}
