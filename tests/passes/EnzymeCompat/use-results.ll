; A number that a call through a pointer returns is used by a call with a derivative, which leaves after Enzyme. Integers are not, nor what a function returns that is called by its name.
;
; RUN: %opt -passes=adgen-use-results,verify -S %s | %filecheck %s
; RUN: %opt -passes=adgen-use-results,adgen-strip-guards -S %s | %filecheck %s --check-prefix=RELEASED

; CHECK-LABEL: define i1 @through_a_pointer(
; CHECK:         %y = call double %f(double %x)
; CHECK-NEXT:    call void @adgen_use_f64(double %y)
; CHECK-NEXT:    %two = call <2 x float> %f(double %x)
; CHECK-NEXT:    call void @adgen_use_v2f32(<2 x float> %two)
; CHECK-NEXT:    call i32 %f(double %x)
; CHECK-NEXT:    call double @number(double %x)
; CHECK-NEXT:    fcmp
; RELEASED-NOT: call void @adgen_use
define i1 @through_a_pointer(ptr %f, double %x) {
  %y = call double %f(double %x)
  %two = call <2 x float> %f(double %x)
  %i = call i32 %f(double %x)
  %z = call double @number(double %x)
  %c = fcmp olt double %y, %x
  ret i1 %c
}

; CHECK-LABEL: define double @may_throw(
; CHECK:         invoke float %f(double %x)
; CHECK-NEXT:      to label %[[NEXT:.*]] unwind label %failed
; CHECK:       [[NEXT]]:
; CHECK-NEXT:    call void @adgen_use_f32(float %y)
; CHECK-NEXT:    br label %join
define double @may_throw(ptr %f, double %x, i1 %c) personality ptr @personality {
  br i1 %c, label %call, label %join
call:
  %y = invoke float %f(double %x) to label %join unwind label %failed
failed:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
join:
  %which = phi double [ 1.0, %call ], [ 2.0, %0 ]
  ret double %which
}

; Rules whose results only decide are called by names without a derivative, and get their own back.
; CHECK-LABEL: define i1 @decides(
; CHECK-NEXT:    %inner = call float @adgen_aside_adgen_math_j0f(float %x)
; CHECK-NEXT:    %twice = fadd float %inner, %inner
; CHECK-NEXT:    %outer = call float @adgen_aside_adgen_math_j0f(float %twice)
; RELEASED-LABEL: define i1 @decides(
; RELEASED-NEXT:  %inner = call float @adgen_math_j0f(float %x)
; RELEASED-NEXT:  %twice = fadd float %inner, %inner
; RELEASED-NEXT:  %outer = call float @adgen_math_j0f(float %twice)
define i1 @decides(float %x) {
  %inner = call float @adgen_math_j0f(float %x)
  %twice = fadd float %inner, %inner
  %outer = call float @adgen_math_j0f(float %twice)
  %less = fcmp olt float %outer, 1.0
  ret i1 %less
}

; One that something is made of stays as it is.
; CHECK-LABEL: define float @decides_and_more(
; CHECK-NEXT:    call float @adgen_math_j0f(float %x)
; CHECK-NEXT:    call float @adgen_math_j0f(float %y)
; CHECK-NEXT:    fcmp
define float @decides_and_more(float %x) {
  %y = call float @adgen_math_j0f(float %x)
  %z = call float @adgen_math_j0f(float %y)
  %less = fcmp olt float %z, 1.0
  %w = select i1 %less, float %z, float 0.0
  ret float %w
}

declare !enzyme_augment !0 !enzyme_gradient !1 float @adgen_math_j0f(float) memory(none)
declare { float } @adgen_math_j0f_reverse(float, float)
declare double @number(double)
declare i32 @personality(...)

; CHECK: declare float @adgen_aside_adgen_math_j0f(float) [[ASIDE:#[0-9]+]]
; CHECK: declare !enzyme_augment ![[USE:.*]] !enzyme_gradient ![[REVERSE:.*]] void @adgen_use_f64(double "enzyme_type"="{[-1]:Float@double}") [[ATTRIBUTES:#[0-9]+]]
; CHECK: define internal { double } @adgen_use_f64_reverse(double %0)
; CHECK-NEXT: entry:
; CHECK-NEXT: ret { double } zeroinitializer
; CHECK: attributes [[ASIDE]] = { nofree memory(none) "enzyme_inactive" "enzyme_no_escaping_allocation" }
; CHECK: attributes [[ATTRIBUTES]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) }

!0 = !{ptr @adgen_math_j0f}
!1 = !{ptr @adgen_math_j0f_reverse}
