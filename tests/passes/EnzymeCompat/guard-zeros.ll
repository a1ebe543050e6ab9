; In a marked gradient a cotangent of zero makes its product zero where the slope may be infinite: products, quotients,
; fused multiply-adds and rules, and of what local memory hands on. What the primal computes stays, as do products with
; what has no pole, and gradients without the mark.
;
; RUN: %opt -passes='adgen-guard-zeros,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK:         %primal = fdiv float %s, %s
; CHECK-NEXT:    %d = load float, ptr %d_y
; CHECK-NEXT:    %half = fmul float %d, 5.000000e-01
; CHECK-NEXT:    %smooth = fmul float %half, %s
; CHECK-NEXT:    %q = fdiv float %smooth, %s
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %smooth, 0.000000e+00
; CHECK-NEXT:    %[[Q:.*]] = select i1 %[[ZERO]], float 0.000000e+00, float %q
; CHECK-NEXT:    %m = fmul float %primal, %[[Q]]
; CHECK-NEXT:    %[[NONE:.*]] = fcmp oeq float %[[Q]], 0.000000e+00
; CHECK-NEXT:    %[[M:.*]] = select i1 %[[NONE]], float 0.000000e+00, float %m
; CHECK-NEXT:    store float %[[M]], ptr %local
; CHECK-NEXT:    %kept = load float, ptr %local
; CHECK-NEXT:    %f = call float @llvm.fma.f32(float %kept, float %primal, float %d)
; CHECK-NEXT:    %[[NOTHING:.*]] = fcmp oeq float %kept, 0.000000e+00
; CHECK-NEXT:    %[[F:.*]] = select i1 %[[NOTHING]], float %d, float %f
; CHECK-NEXT:    %r = call { float } @adgen_math_rsqrtf_reverse(float %s, float %[[F]])
; CHECK-NEXT:    %[[EMPTY:.*]] = fcmp oeq float %[[F]], 0.000000e+00
; CHECK-NEXT:    %[[R:.*]] = select i1 %[[EMPTY]], { float } zeroinitializer, { float } %r
; CHECK-NEXT:    extractvalue { float } %[[R]], 0
define void @adgen_gradient_k(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x) #0 {
  %local = alloca float
  %primal = fdiv float %s, %s
  %d = load float, ptr %d_y
  %half = fmul float %d, 0.5
  %smooth = fmul float %half, %s
  %q = fdiv float %smooth, %s
  %m = fmul float %primal, %q
  store float %m, ptr %local
  %kept = load float, ptr %local
  %f = call float @llvm.fma.f32(float %kept, float %primal, float %d)
  %r = call { float } @adgen_math_rsqrtf_reverse(float %s, float %f)
  %x = extractvalue { float } %r, 0
  store float %x, ptr %d_x
  ret void
}

; What is infinite with a result, and what is made of it, needs no guard; nor does what Enzyme computes again under its
; name. What has lost its mark does.
; CHECK-LABEL: define void @adgen_gradient_kept(
; CHECK:         %d = load float, ptr %d_y
; CHECK-NEXT:    %slope = fdiv float %d, %b_unwrap
; CHECK-NEXT:    %m = fmul float %slope, %q_unwrap3
; CHECK-NEXT:    %more = fmul float %m, %square
; CHECK-NEXT:    %lost = fmul float %more, %other_unwrap
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %more, 0.000000e+00
; CHECK-NEXT:    select i1 %[[ZERO]], float 0.000000e+00, float %lost
define void @adgen_gradient_kept(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x) #0 {
  %b = fsub float %s, 1.0, !adgen.kept_argument !0
  %q = fdiv float %s, %b, !adgen.kept !0
  %square = fmul float %q, %q
  %other = fdiv float %s, %square
  %b_unwrap = fsub float %s, 1.0
  %q_unwrap3 = fdiv float %s, %b_unwrap
  %other_unwrap = fdiv float %s, %square
  %d = load float, ptr %d_y
  %slope = fdiv float %d, %b_unwrap
  %m = fmul float %slope, %q_unwrap3
  %more = fmul float %m, %square
  %lost = fmul float %more, %other_unwrap
  store float %lost, ptr %d_x
  ret void
}

; A quotient by what is greater than zero by its form has no pole; one by a sum of squares has, and one by a product that
; may be nearly zero.
; CHECK-LABEL: define void @adgen_gradient_positive(
; CHECK:         %none = fdiv float %d, %root
; CHECK-NEXT:    %cubed = fdiv float %none, %product
; CHECK-NEXT:    %small = fdiv float %cubed, %powers
; CHECK-NEXT:    %[[TINY:.*]] = fcmp oeq float %cubed, 0.000000e+00
; CHECK-NEXT:    %[[SMALL:.*]] = select i1 %[[TINY]], float 0.000000e+00, float %small
; CHECK-NEXT:    %one = fdiv float %[[SMALL]], %squares
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %[[SMALL]], 0.000000e+00
; CHECK-NEXT:    %[[ONE:.*]] = select i1 %[[ZERO]], float 0.000000e+00, float %one
; CHECK-NEXT:    store float %[[ONE]]
define void @adgen_gradient_positive(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x) #0 {
  %square = fmul float %s, %s
  %squares = call float @llvm.fma.f32(float %s, float %s, float %square)
  %sum = fadd float %squares, 0x3F847AE140000000
  %root = call float @__nv_sqrtf(float %sum)
  %d = load float, ptr %d_y
  %product = fmul float %sum, %root
  %fourth = fmul float %sum, %sum
  %eighth = fmul float %fourth, %fourth
  %powers = fmul float %eighth, %eighth
  %none = fdiv float %d, %root
  %cubed = fdiv float %none, %product
  %small = fdiv float %cubed, %powers
  %one = fdiv float %small, %squares
  store float %one, ptr %d_x
  ret void
}

; What nothing is made of in the end has a cotangent that is zero as it stands; a product without Enzyme's liberties is
; one of the primal.
; CHECK-LABEL: define void @adgen_gradient_nothing(
; CHECK:         %primal = fdiv float 0.000000e+00, %s
; CHECK:         %q = fdiv nsz float %of_rule, %s
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %of_rule, 0.000000e+00
; CHECK-NEXT:    %[[Q:.*]] = select i1 %[[ZERO]], float 0.000000e+00, float %q
; CHECK-NEXT:    store float %[[Q]]
; CHECK:         %[[R:.*]] = select i1 true, float 0.000000e+00, float %r
; CHECK-NEXT:    store float %[[R]], ptr %d_y
; CHECK:         store float %primal
define void @adgen_gradient_nothing(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x) #0 {
  %primal = fdiv float 0.0, %s
  %of_rule = extractvalue { float } zeroinitializer, 0
  %q = fdiv nsz float %of_rule, %s
  store float %q, ptr %d_x
  %r = fdiv nsz float 0.0, %s
  store float %r, ptr %d_y
  store float %primal, ptr %d_x
  ret void
}

; What Enzyme adds to and nothing is ever added to, holds zeros; and the shadow of a struct leads to cotangents.
; CHECK-LABEL: define void @adgen_gradient_local(
; CHECK:         %m = fdiv float %d, %s
; CHECK-NEXT:    fcmp oeq float %d, 0.000000e+00
; CHECK:         %o = fdiv float %e, %s
; CHECK-NEXT:    fcmp oeq float %e, 0.000000e+00
define void @adgen_gradient_local(float %s, ptr %of, ptr %d_of, i1 %which) #0 {
  %"a'ipa" = alloca [2 x float]
  %second = getelementptr float, ptr %"a'ipa", i64 1
  %place = select i1 %which, ptr %"a'ipa", ptr %second
  %d = load float, ptr %place
  %m = fdiv float %d, %s
  %x = load ptr, ptr %d_of
  %e = load float, ptr %x
  %o = fdiv float %e, %s
  store float %m, ptr %d_of
  store float %o, ptr %d_of
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_plain(
; CHECK-NOT:     fcmp
define void @adgen_gradient_plain(float %s, ptr "adgen-shadow" %d_y) #1 {
  %d = load float, ptr %d_y
  %m = fdiv float %d, %s
  store float %m, ptr %d_y
  ret void
}

; In C++ the sweeps are in a function that the gradient calls. Where that function calls others, or has others called,
; these may leave anything in memory.
; CHECK-LABEL: define void @diffeadgen_body_c(
; CHECK:         %m = fmul float %d, %x
; CHECK-NEXT:    %one = fdiv float %m, %x
; CHECK-NEXT:    fcmp oeq float %m
define void @diffeadgen_body_c(ptr %a, ptr %"a'") {
  %x = load float, ptr %a
  call void @library(ptr %a)
  %d = load float, ptr %"a'"
  %m = fmul float %d, %x
  %one = fdiv float %m, %x
  store float %one, ptr %"a'"
  ret void
}

; CHECK-LABEL: define void @diffeadgen_body_calls(
; CHECK:         %m = fmul float %d, %x
; CHECK-NEXT:    fcmp oeq float %d
define void @diffeadgen_body_calls(ptr %a, ptr %"a'") personality ptr null {
  invoke void @other(ptr %a)
          to label %behind unwind label %failed
behind:
  %x = load float, ptr %a
  %d = load float, ptr %"a'"
  %m = fmul float %d, %x
  store float %m, ptr %"a'"
  ret void
failed:
  landingpad { ptr, i32 } cleanup
  ret void
}

; CHECK-LABEL: define void @diffeadgen_body_forks(
; CHECK:         %m = fmul float %d, %x
; CHECK-NEXT:    fcmp oeq float %d
define void @diffeadgen_body_forks(ptr %a, ptr %"a'") {
  call void @fork(ptr @other, ptr %a)
  %x = load float, ptr %a
  %d = load float, ptr %"a'"
  %m = fmul float %d, %x
  store float %m, ptr %"a'"
  ret void
}

; CHECK-LABEL: define void @diffeadgen_body_splits(
; CHECK:         %m = fmul float %d, %x
; CHECK-NEXT:    fcmp oeq float %d
define void @diffeadgen_body_splits(ptr %a, ptr %"a'", float %y) {
  call float @modff(float %y, ptr %a)
  %x = load float, ptr %a
  %d = load float, ptr %"a'"
  %m = fmul float %d, %x
  store float %m, ptr %"a'"
  ret void
}

; Of two arrays that take turns a cache keeps the shadow of the one that is an iteration's.
; CHECK-LABEL: define void @adgen_gradient_turns(
; CHECK:         %q = fdiv float %d, %s
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %d, 0.000000e+00
; CHECK-NEXT:    select i1 %[[ZERO]], float 0.000000e+00, float %q
define void @adgen_gradient_turns(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x, i1 %turn) #0 {
  %cache = call noalias ptr @malloc(i64 8)
  %mine = select i1 %turn, ptr %d_x, ptr %d_y
  store ptr %mine, ptr %cache
  %again = load ptr, ptr %cache
  %d = load float, ptr %again
  %q = fdiv float %d, %s
  store float %q, ptr %again
  ret void
}
declare noalias ptr @malloc(i64)

define void @other(ptr %a) {
  store float 1.0, ptr %a
  ret void
}

declare void @library(ptr)
declare void @fork(ptr, ptr)
declare float @modff(float, ptr)
declare float @llvm.fma.f32(float, float, float)
declare float @__nv_sqrtf(float) memory(none)
declare { float } @adgen_math_rsqrtf_reverse(float, float)

attributes #0 = { "adgen-activity"="const:duplicated" "adgen-dropped-poles" }
attributes #1 = { "adgen-activity"="const:duplicated" }
!0 = !{}
