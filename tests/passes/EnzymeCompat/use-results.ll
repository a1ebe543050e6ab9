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

declare double @number(double)
declare i32 @personality(...)

; CHECK: declare !enzyme_augment ![[USE:.*]] !enzyme_gradient ![[REVERSE:.*]] void @adgen_use_f64(double "enzyme_type"="{[-1]:Float@double}") [[ATTRIBUTES:#[0-9]+]]
; CHECK: define internal { double } @adgen_use_f64_reverse(double %0)
; CHECK-NEXT: entry:
; CHECK-NEXT: ret { double } zeroinitializer
; CHECK: attributes [[ATTRIBUTES]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) }
