; In a marked gradient a cotangent of zero makes its product zero, whatever the slope: of products, quotients, fused
; multiply-adds and rules, and of what local memory hands on. What the primal computes stays, as do products with
; constants, and gradients without the mark.
;
; RUN: %opt -passes='adgen-guard-zeros,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_gradient_k(
; CHECK:         %primal = fmul float %s, %s
; CHECK-NEXT:    %d = load float, ptr %d_y
; CHECK-NEXT:    %half = fmul float %d, 5.000000e-01
; CHECK-NEXT:    %q = fdiv float %half, %s
; CHECK-NEXT:    %[[ZERO:.*]] = fcmp oeq float %half, 0.000000e+00
; CHECK-NEXT:    %[[Q:.*]] = select i1 %[[ZERO]], float 0.000000e+00, float %q
; CHECK-NEXT:    %m = fmul float %primal, %[[Q]]
; CHECK-NEXT:    %[[NONE:.*]] = fcmp oeq float %[[Q]], 0.000000e+00
; CHECK-NEXT:    %[[M:.*]] = select i1 %[[NONE]], float 0.000000e+00, float %m
; CHECK-NEXT:    store float %[[M]], ptr %local
; CHECK-NEXT:    %kept = load float, ptr %local
; CHECK-NEXT:    %f = call float @llvm.fma.f32(float %kept, float %s, float %d)
; CHECK-NEXT:    %[[NOTHING:.*]] = fcmp oeq float %kept, 0.000000e+00
; CHECK-NEXT:    %[[F:.*]] = select i1 %[[NOTHING]], float %d, float %f
; CHECK-NEXT:    %r = call { float } @adgen_math_rsqrtf_reverse(float %s, float %[[F]])
; CHECK-NEXT:    %[[EMPTY:.*]] = fcmp oeq float %[[F]], 0.000000e+00
; CHECK-NEXT:    %[[R:.*]] = select i1 %[[EMPTY]], { float } zeroinitializer, { float } %r
; CHECK-NEXT:    extractvalue { float } %[[R]], 0
define void @adgen_gradient_k(float %s, ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_x) #0 {
  %local = alloca float
  %primal = fmul float %s, %s
  %d = load float, ptr %d_y
  %half = fmul float %d, 0.5
  %q = fdiv float %half, %s
  %m = fmul float %primal, %q
  store float %m, ptr %local
  %kept = load float, ptr %local
  %f = call float @llvm.fma.f32(float %kept, float %s, float %d)
  %r = call { float } @adgen_math_rsqrtf_reverse(float %s, float %f)
  %x = extractvalue { float } %r, 0
  store float %x, ptr %d_x
  ret void
}

; What Enzyme adds to and nothing is ever added to, holds zeros.
; CHECK-LABEL: define void @adgen_gradient_local(
; CHECK:         %m = fmul float %d, %s
; CHECK-NEXT:    fcmp oeq float %d, 0.000000e+00
define void @adgen_gradient_local(float %s, ptr "adgen-shadow" %d_x, i1 %which) #0 {
  %"a'ipa" = alloca [2 x float]
  %second = getelementptr float, ptr %"a'ipa", i64 1
  %place = select i1 %which, ptr %"a'ipa", ptr %second
  %d = load float, ptr %place
  %m = fmul float %d, %s
  store float %m, ptr %d_x
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_plain(
; CHECK-NOT:     fcmp
define void @adgen_gradient_plain(float %s, ptr "adgen-shadow" %d_y) #1 {
  %d = load float, ptr %d_y
  %m = fmul float %d, %s
  store float %m, ptr %d_y
  ret void
}

declare float @llvm.fma.f32(float, float, float)
declare { float } @adgen_math_rsqrtf_reverse(float, float)

attributes #0 = { "adgen-activity"="const:duplicated" "adgen-dropped-poles" }
attributes #1 = { "adgen-activity"="const:duplicated" }
