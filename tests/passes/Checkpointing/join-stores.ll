; A result that is stored again on a condition is stored once; not where something between the stores may read it.
;
; RUN: %opt -passes='adgen-join-stores,verify' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_weighted(
; CHECK:       entry:
; CHECK-NOT:     store
; CHECK:       then:
; CHECK-NOT:     store
; CHECK:       join:
; CHECK-NEXT:    %stored = phi float [ %a, %entry ], [ %b, %then ]
; CHECK-NEXT:    store float %stored, ptr %out
; CHECK-NEXT:    ret void
define void @adgen_body_weighted(ptr noalias %out, ptr %weight, float %a, i1 %weighted) {
entry:
  store float %a, ptr %out
  br i1 %weighted, label %then, label %join
then:
  %w = load float, ptr %weight, !invariant.load !0
  %b = fmul float %a, %w
  store float %b, ptr %out
  br label %join
join:
  ret void
}

; CHECK-LABEL: define void @adgen_body_read(
; CHECK:       entry:
; CHECK-NEXT:    store float %a, ptr %out
; CHECK:       then:
; CHECK:         store float %b, ptr %out
define void @adgen_body_read(ptr %out, ptr %weight, float %a, i1 %weighted) {
entry:
  store float %a, ptr %out
  br i1 %weighted, label %then, label %join
then:
  %w = load float, ptr %weight
  %b = fmul float %a, %w
  store float %b, ptr %out
  br label %join
join:
  ret void
}

; CHECK-LABEL: define void @adgen_body_elsewhere(
; CHECK:       entry:
; CHECK-NEXT:    store float %a, ptr %out
; CHECK:       then:
; CHECK:         store float 2.0{{.*}}, ptr %other
define void @adgen_body_elsewhere(ptr noalias %out, ptr noalias %other, float %a, i1 %c) {
entry:
  store float %a, ptr %out
  br i1 %c, label %then, label %join
then:
  store float 2.0, ptr %other
  br label %join
join:
  ret void
}

!0 = !{}
