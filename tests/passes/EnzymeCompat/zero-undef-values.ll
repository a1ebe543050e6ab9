; Numbers of floating point that a way leaves without a value are zero there. Integers, and vectors that are put together, stay.
;
; RUN: %opt -passes=adgen-zero-undef-values -S %s | %filecheck %s

; CHECK-LABEL: define float @given_on_one_way(
; CHECK:         %prefix = phi float [ 0.000000e+00, %entry ], [ %v, %then ]
; CHECK:         %place = phi i32 [ undef, %entry ], [ 1, %then ]
; CHECK:         select i1 %c, float %product, float 0.000000e+00
define float @given_on_one_way(i1 %c, ptr %x, float %y, ptr %to) {
entry:
  br i1 %c, label %then, label %join
then:
  %v = load float, ptr %x
  br label %join
join:
  %prefix = phi float [ undef, %entry ], [ %v, %then ]
  %place = phi i32 [ undef, %entry ], [ 1, %then ]
  store i32 %place, ptr %to
  %product = fmul float %prefix, %y
  %chosen = select i1 %c, float %product, float poison
  ret float %chosen
}

; CHECK-LABEL: define <2 x float> @put_together(
; CHECK:         insertelement <2 x float> poison, float %a, i32 0
; CHECK:         fadd <2 x float> %two, zeroinitializer
define <2 x float> @put_together(float %a, float %b) {
  %one = insertelement <2 x float> poison, float %a, i32 0
  %two = insertelement <2 x float> %one, float %b, i32 1
  %sum = fadd <2 x float> %two, undef
  ret <2 x float> %sum
}
