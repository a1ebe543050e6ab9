; An entry whose gradient adds to a const array that the primal only reads is refused; one whose primal writes there is not.
;
; RUN: %opt -passes=adgen-verify-constants -disable-output %s 2>&1 | %filecheck %s

; CHECK-NOT: adgen-refusal: {"entry":"g"
; CHECK: adgen-refusal: {{.*}}"entry":"f"{{.*}}"reason":"the derivative with respect to 'k', which is const, would be added to 'k' itself"
; CHECK-NOT: adgen-refusal
define void @adgen_body_f(ptr %x, ptr %k, i1 %c) {
  %from = select i1 %c, ptr %x, ptr %k
  %v = load float, ptr %from
  ret void
}

define void @adgen_gradient_f(ptr %x, ptr %k, i1 %c, ptr "adgen-shadow" %d_x) #0 {
  %to = select i1 %c, ptr %d_x, ptr %k
  %was = atomicrmw fadd ptr %to, float 1.0 monotonic
  ret void
}

define void @adgen_body_g(ptr %x, ptr %k) {
  store float 1.0, ptr %k
  ret void
}

define void @adgen_gradient_g(ptr %x, ptr %k, ptr "adgen-shadow" %d_x) #1 {
  store float 1.0, ptr %k
  store float 1.0, ptr %d_x
  ret void
}

attributes #0 = { "adgen-activity"="duplicated:const:const" }
attributes #1 = { "adgen-activity"="duplicated:const" }
